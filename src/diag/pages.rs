//! The pages of the codes, compiled in: what a code means, why it is said, what to do.
//!
//! Invariant: one page for each constructor of the catalogue, in the order of the codes (a test compares all three).

use super::{Code, Concern};

/// The page of `code`.
pub fn page(code: Code) -> Option<&'static str> {
    PAGES.iter().find(|(known, ..)| *known == code).map(|(_, _, page)| *page)
}

/// What the diagnostics of `code` are about.
pub fn concern(code: Code) -> Concern {
    PAGES.iter().find(|(known, ..)| *known == code).map_or(Concern::Both, |(_, concern, _)| *concern)
}

/// The title of the page of `code`: its first line behind the code.
pub fn title(code: Code) -> Option<&'static str> {
    page(code)?.lines().next()?.split_once(": ").map(|(_, title)| title)
}

macro_rules! pages {
    ($($code:literal $concern:ident $file:literal)*) => {
        /// Every code, what it concerns, and its page, by code.
        pub const PAGES: &[(Code, Concern, &str)] =
            &[$((Code($code), Concern::$concern, include_str!(concat!("../../rules/diag/", $file)))),*];
    };
}

pages! {
    1 Both "A0001.md"
    2 Both "A0002.md"
    3 Both "A0003.md"
    4 Both "A0004.md"
    5 Both "A0005.md"
    6 Both "A0006.md"
    7 Both "A0007.md"
    8 Both "A0008.md"
    9 Both "A0009.md"
    10 Both "A0010.md"
    11 Both "A0011.md"
    12 OpenMp "A0012.md"
    13 OpenMp "A0013.md"
    14 Both "A0014.md"
    15 Both "A0015.md"
    16 Both "A0016.md"
    17 Both "A0017.md"
    18 Both "A0018.md"
    19 Both "A0019.md"
    20 Both "A0020.md"
    21 Both "A0021.md"
    22 Both "A0022.md"
    30 Both "A0030.md"
    31 Both "A0031.md"
    201 OpenMp "A0201.md"
    202 OpenMp "A0202.md"
    203 OpenMp "A0203.md"
    204 OpenMp "A0204.md"
    205 OpenMp "A0205.md"
    206 OpenMp "A0206.md"
    208 OpenMp "A0208.md"
    209 Both "A0209.md"
    210 OpenMp "A0210.md"
    211 Both "A0211.md"
    212 Both "A0212.md"
    213 OpenMp "A0213.md"
    214 OpenMp "A0214.md"
    215 OpenMp "A0215.md"
    216 Both "A0216.md"
    217 Both "A0217.md"
    218 Both "A0218.md"
    220 OpenMp "A0220.md"
    221 OpenMp "A0221.md"
    222 OpenMp "A0222.md"
    230 OpenMp "A0230.md"
    231 Both "A0231.md"
    232 OpenMp "A0232.md"
    233 OpenMp "A0233.md"
    234 OpenMp "A0234.md"
    235 OpenMp "A0235.md"
    236 OpenMp "A0236.md"
    240 Both "A0240.md"
    241 OpenMp "A0241.md"
    242 Both "A0242.md"
    243 Both "A0243.md"
    244 Both "A0244.md"
    247 OpenMp "A0247.md"
    248 OpenMp "A0248.md"
    249 OpenMp "A0249.md"
    250 OpenMp "A0250.md"
    251 Both "A0251.md"
    252 OpenMp "A0252.md"
    253 OpenMp "A0253.md"
    254 OpenMp "A0254.md"
    255 OpenMp "A0255.md"
    256 OpenMp "A0256.md"
    257 Both "A0257.md"
    258 OpenMp "A0258.md"
    259 OpenMp "A0259.md"
    260 Both "A0260.md"
    261 OpenMp "A0261.md"
    270 Both "A0270.md"
    271 Both "A0271.md"
    272 OpenMp "A0272.md"
    273 OpenMp "A0273.md"
    274 Both "A0274.md"
    275 Both "A0275.md"
    276 OpenMp "A0276.md"
    277 OpenMp "A0277.md"
    278 OpenMp "A0278.md"
    279 OpenMp "A0279.md"
    280 Both "A0280.md"
    281 OpenMp "A0281.md"
    282 OpenMp "A0282.md"
    283 OpenMp "A0283.md"
    284 OpenMp "A0284.md"
    287 Both "A0287.md"
    288 Both "A0288.md"
    289 Both "A0289.md"
    290 OpenMp "A0290.md"
    292 Both "A0292.md"
    293 OpenMp "A0293.md"
    294 OpenMp "A0294.md"
    295 OpenMp "A0295.md"
    296 OpenMp "A0296.md"
    297 OpenMp "A0297.md"
    298 Each "A0298.md"
    299 OpenMp "A0299.md"
    301 OpenMp "A0301.md"
    302 Both "A0302.md"
    303 OpenMp "A0303.md"
    304 Both "A0304.md"
    305 OpenMp "A0305.md"
    306 OpenMp "A0306.md"
    307 Both "A0307.md"
    308 Both "A0308.md"
    309 OpenMp "A0309.md"
    320 Both "A0320.md"
    321 OpenMp "A0321.md"
    322 OpenMp "A0322.md"
    323 Each "A0323.md"
    330 OpenMp "A0330.md"
    331 OpenMp "A0331.md"
    333 Both "A0333.md"
    334 Both "A0334.md"
    335 Both "A0335.md"
    336 Both "A0336.md"
    337 OpenMp "A0337.md"
    339 OpenMp "A0339.md"
    401 Cuda "A0401.md"
    402 Cuda "A0402.md"
    403 Cuda "A0403.md"
    404 Cuda "A0404.md"
    405 Cuda "A0405.md"
    406 Cuda "A0406.md"
    407 Cuda "A0407.md"
    901 Each "A0901.md"
    902 Each "A0902.md"
}
