//! The pages of the codes, compiled in: what a code means, why it is said, what to do.
//!
//! Invariant: one page for each constructor of the catalogue, in the order of the codes (a test compares all three).

use super::Code;

/// The page of `code`.
pub fn page(code: Code) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// The title of the page of `code`: its first line behind the code.
pub fn title(code: Code) -> Option<&'static str> {
    page(code)?.lines().next()?.split_once(": ").map(|(_, title)| title)
}

macro_rules! pages {
    ($($code:literal $file:literal)*) => {
        /// Every page, by code.
        pub const PAGES: &[(Code, &str)] = &[$((Code($code), include_str!(concat!("../../rules/diag/", $file)))),*];
    };
}

pages! {
    1 "A0001.md"
    2 "A0002.md"
    3 "A0003.md"
    4 "A0004.md"
    5 "A0005.md"
    6 "A0006.md"
    7 "A0007.md"
    8 "A0008.md"
    9 "A0009.md"
    10 "A0010.md"
    11 "A0011.md"
    12 "A0012.md"
    13 "A0013.md"
    14 "A0014.md"
    15 "A0015.md"
    16 "A0016.md"
    17 "A0017.md"
    18 "A0018.md"
    201 "A0201.md"
    202 "A0202.md"
    203 "A0203.md"
    204 "A0204.md"
    205 "A0205.md"
    206 "A0206.md"
    208 "A0208.md"
    209 "A0209.md"
    210 "A0210.md"
    211 "A0211.md"
    212 "A0212.md"
    213 "A0213.md"
    214 "A0214.md"
    215 "A0215.md"
    216 "A0216.md"
    217 "A0217.md"
    218 "A0218.md"
    220 "A0220.md"
    221 "A0221.md"
    222 "A0222.md"
    230 "A0230.md"
    231 "A0231.md"
    232 "A0232.md"
    233 "A0233.md"
    234 "A0234.md"
    235 "A0235.md"
    236 "A0236.md"
    240 "A0240.md"
    241 "A0241.md"
    242 "A0242.md"
    243 "A0243.md"
    244 "A0244.md"
    247 "A0247.md"
    248 "A0248.md"
    249 "A0249.md"
    250 "A0250.md"
    251 "A0251.md"
    252 "A0252.md"
    253 "A0253.md"
    254 "A0254.md"
    255 "A0255.md"
    256 "A0256.md"
    257 "A0257.md"
    258 "A0258.md"
    259 "A0259.md"
    260 "A0260.md"
    261 "A0261.md"
    270 "A0270.md"
    271 "A0271.md"
    272 "A0272.md"
    273 "A0273.md"
    274 "A0274.md"
    280 "A0280.md"
    281 "A0281.md"
    282 "A0282.md"
    283 "A0283.md"
    287 "A0287.md"
    288 "A0288.md"
    289 "A0289.md"
    290 "A0290.md"
    292 "A0292.md"
    293 "A0293.md"
    294 "A0294.md"
    295 "A0295.md"
    296 "A0296.md"
    297 "A0297.md"
    301 "A0301.md"
    302 "A0302.md"
    303 "A0303.md"
    304 "A0304.md"
    305 "A0305.md"
    306 "A0306.md"
    307 "A0307.md"
    308 "A0308.md"
    320 "A0320.md"
    321 "A0321.md"
    322 "A0322.md"
    401 "A0401.md"
    402 "A0402.md"
    403 "A0403.md"
    404 "A0404.md"
    405 "A0405.md"
    406 "A0406.md"
    407 "A0407.md"
    901 "A0901.md"
    902 "A0902.md"
}
