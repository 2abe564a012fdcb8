"""The words that synthetic towns are named with: a harbour town and its neighbours that exist nowhere.

No name holds an area, a food, a price range or a day, and none is a name of MultiWOZ.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOWN_NAME = "kestermouth"
POSTCODE_AREA = "km"
#: Numbers reserved for fiction: 01632 960000 to 960999.
PHONE_PREFIX = "01632960"

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKEND = ("saturday", "sunday")
#: Areas with the share of venues of each kind.
AREAS = ("centre", "north", "south", "east", "west")
AREA_SHARES = {
    "restaurant": (60, 11, 12, 12, 15),
    "hotel": (8, 9, 5, 6, 5),
    "attraction": (38, 8, 9, 11, 13),
}
PRICE_RANGES = ("cheap", "moderate", "expensive")

#: Foods of the town's restaurants, how common each is, and the flavour of its names.
FOODS = {
    "indian": (20, "indian"),
    "chinese": (16, "oriental"),
    "italian": (15, "southern"),
    "british": (12, "local"),
    "gastropub": (6, "local"),
    "asian oriental": (5, "oriental"),
    "european": (5, "southern"),
    "turkish": (4, "levantine"),
    "seafood": (4, "local"),
    "international": (3, "local"),
    "mediterranean": (3, "southern"),
    "thai": (3, "oriental"),
    "spanish": (2, "southern"),
    "french": (2, "southern"),
    "portuguese": (2, "southern"),
    "mexican": (1, "southern"),
    "lebanese": (1, "levantine"),
    "vietnamese": (1, "oriental"),
    "japanese": (1, "oriental"),
    "korean": (1, "oriental"),
    "african": (1, "local"),
    "cornish": (1, "local"),
    "nordic": (1, "local"),
}
#: Foods that people ask for and nobody in the town serves.
FOODS_ELSEWHERE = (
    *("welsh", "greek", "persian", "polish", "swiss", "jamaican", "cuban", "hungarian", "ethiopian", "scottish"),
    *("belgian", "singaporean", "basque", "caribbean", "malaysian", "russian", "corsican", "tibetan", "peruvian"),
)

LOCAL_NAMES = _words(
    """
    aldermoor arkwith bardolph beckfoot bellweather blackthorne bramwell brindlecote brockhurst burlescombe caldbeck
    carraway chadwyn chillingworth clapperton cobblewick corfield cranleigh culverhay dalrymple darnforth deverill
    dillwyn dovecote drummond dunmallet edgecumbe ellerkin embleton everdene fairweather farthing fellbridge fernhollow
    finsthwaite flaxmere foxglove frobisher galloway garrick gillyflower glimmerdon goldfinch gorsehill grayling
    hadleigh halliwell hambledon harcastle hawksmoor hazeldine heathcote hesketh hollyoak honeychurch hornbeam huckaback
    humbleby inglenook ivelcott jessop juniper kelmscott kerridge kilnsea kingfisher kittiwake lambourne larkrise
    lavenham liddesdale lilywhite loxley lyddington maltravers mandeville mapledurham marchbanks mayberry merriweather
    mickleham moffat mossbrae mulberry nettlebed nightjar nuthatch oakhanger oddingley orchardleigh osprey ottershaw
    oxenholme partridge peppercorn periwinkle pettigrew pickering pinkerton plumtree polperro primrose puddleby quantock
    quillfeather rackham ravenscar redfern ripponden rookwood rosedene rowanberry rumbelow saltmarsh sandalwood
    satterthwaite silverdale skelwith snowdrop speedwell spindlewood starling stonecrop strickland sunderby swallowtail
    sycamore tamarisk tanglewood thistledown thornbury tilbrook tolliver treadgold tumbledown twelvetrees umberleigh
    valerian vennor verity wadebridge wagstaff wakefield wharfedale whitlock wigmore wildgoose windrush winterbourne
    woolacombe wychwood yarrow yellowhammer
    """
)
#: Single names of restaurants by flavour, with what can stand beside them.
RESTAURANT_NAMES = {
    "southern": _words(
        """
        allegra amarena bellavista bergamotto calabrone campanella carmesina celestina dolcezza donatello esmeralda
        farfalla fiordaliso gattopardo girasole grigliata laurentina lucciola mandorla marechiaro melograno montecorvo
        nocciola olivastro papavero peperoncino quadrifoglio rosmarino santarosa serafina tartufo valderano zafferano
        zingaro alcachofa
        """
    ),
    "indian": _words(
        """
        banyan charminar devaraj gulmohar jalebi jasmine kadamba kalinga kasturi malabar mayura monsoon nagarjuna
        nilgiri padmini parijat rangoli ratnapura shalimar vasanta yamuna
        """
    ),
    "oriental": _words(
        """
        mandalay cinnabar dragonfly fenghua hualien kumquat lantian lychee mingzhu pagoda qinghai sampan shenlong
        tianfu wisteria xianghe yunnan zhongshan arirang bonsai hanabi ikebana momiji origami ponlamai sakura tanabata
        """
    ),
    "levantine": _words(
        "almazar baklawa dervish firuze gulistan hanimeli isfandar karavan levanta minaret sultana zeytin"
    ),
    "local": LOCAL_NAMES,
}
RESTAURANT_FORMS = {
    "southern": ("trattoria {}", "osteria {}", "{} pizzeria", "casa {}", "{} cucina", "taverna {}"),
    "indian": ("{} spice rooms", "{} tiffin room", "{} curry house", "{} balti kitchen"),
    "oriental": ("{} dining hall", "{} wok and grill", "{} banquet", "{} tea house"),
    "levantine": ("{} grill house", "{} meze table", "{} lokanta"),
    "local": ("{} chop house", "{} tap room", "{} brasserie", "{} larder", "{} smokehouse", "{} oyster bar"),
}
#: Two words make a name as well: the velvet otter.
TWO_WORD_FORMS = ("the {} {}", "the {} {}", "{} {} kitchen", "{} {} bistro", "{} {} supper club")
FIRST_WORDS = _words(
    """
    velvet tin crooked hungry sleepy painted whistling wandering gilded rusty merry drowsy humble jolly quiet crimson
    amber ivory cobalt scarlet ebony dappled speckled striped feathered frosted smoky toasted buttered peppered salted
    pickled sugared roasted twisted folded hidden secret forgotten borrowed curious clever nimble patient stubborn
    bashful cheerful dancing soaring floating spinning winking polished braided knotted woollen pewter marble granite
    """
)
SECOND_WORDS = _words(
    """
    otter lantern heron badger teapot ladle skillet cauldron walrus magpie hedgehog squirrel tortoise lobster mackerel
    pelican puffin raven sparrow weasel beetle bumblebee griffin unicorn mermaid sailor cobbler tinker weaver piper
    drummer jester duchess abbot pilgrim gander rooster turnip radish artichoke pumpkin walnut chestnut thimble button
    buckle bellows anvil barrel anchor compass spyglass windmill wagon carousel candle mirror umbrella slipper pocket
    """
)

#: Hotels and guesthouses.
LODGING_FORMS = {
    "guesthouse": ("{} guest house", "{} bed and breakfast", "{} lodge", "{} cottage", "{} house"),
    "hotel": ("the {} hotel", "{} grand hotel", "hotel {}", "{} arms"),
}

#: Attractions: how common each type is and what its places are called.
ATTRACTIONS = {
    "museum": (20, ("{} museum", "{} gallery", "{} art rooms", "{} archive")),
    "college": (10, ("{} college",)),
    "park": (9, ("{} gardens", "{} common", "{} country park")),
    "theatre": (7, ("{} theatre", "{} playhouse")),
    "architecture": (7, ("{} chapel", "{} almshouses", "{} watchtower")),
    "nightclub": (6, ("club {}", "{} nightclub")),
    "entertainment": (6, ("{} bowling lanes", "{} arcade", "{} climbing barn")),
    "swimmingpool": (5, ("{} lido", "{} swimming baths")),
    "boat": (4, ("{} river cruises", "{} rowing boats")),
    "cinema": (3, ("{} cinema", "{} picture house")),
    "multiple sports": (1, ("{} sports ground",)),
    "concerthall": (1, ("{} concert hall",)),
}
OPENING_HOURS = (
    "it is open every day from 10 a.m. to 5 p.m.",
    "it is open from 9:30 a.m. to 6 p.m. from monday to saturday and closed on sunday",
    "it is open from tuesday to sunday, 11 a.m. to 4:30 p.m., and closed on monday",
    "it is open on weekdays from 8 a.m. to 8 p.m. and at weekends from 10 a.m. to 6 p.m.",
    "it is open daily from april to october",
    "it is open from 12 to 5 p.m. on wednesday, friday and saturday",
    "always",
)
OPENING_NIGHTS = (
    "it is open from 9 p.m. to 2 a.m. from thursday to saturday",
    "it is open from 10 p.m. to 3:30 a.m. on friday and saturday and to 1 a.m. on wednesday",
    "it is open from 8:30 p.m. to midnight every day but monday",
)
#: Entrance fees with the price range they mean.
FEES = {
    "cheap": ("1 pound", "2 pounds", "2.50 pounds"),
    "moderate": ("3.50 pounds", "4 pounds", "5 pounds"),
    "expensive": ("9 pounds", "12 pounds"),
}

#: Streets of each area.
STREETS = {
    "centre": (
        *("ropemaker street", "herring gate", "tollbooth street", "lamplighter row", "cloth hall passage"),
        *("weighhouse lane", "apothecary street", "mintmaster court"),
    ),
    "north": ("beacon rise", "signal hill road", "drovers way", "packhorse way", "lime burners road", "gannet row"),
    "south": ("saltpan road", "breakwater road", "pilot hill", "marram walk", "netmender lane", "capstan road"),
    "east": ("millwheel lane", "foundry terrace", "cooperage lane", "dyeworks road", "sawpit lane", "brickfield row"),
    "west": ("orchard rise", "beekeeper lane", "vineyard hill", "shepherd walk", "haymaker road", "tithebarn lane"),
}

#: Other stations with the minutes to the town: near ones, and some that the last train reaches after midnight.
NEAR_STATIONS = {
    "tarnholt": 17, "velden cross": 24, "marrack bay": 29, "skelling": 33, "corrieford": 38, "oxley heath": 43,
    "brindle quay": 47, "pennard airport": 49, "ashgrove parkway": 52, "lower thorsby": 58, "dunfell": 63,
}  # fmt: skip
FAR_STATIONS = {
    "port sorrel": 79, "hexmoor town": 88, "great orrin": 97, "averley spa": 105, "caldmouth victoria": 131,
    "strathmere": 163,
}  # fmt: skip

DEPARTMENTS = (
    *("accident and emergency", "cardiology", "dermatology", "oncology", "neurology", "urology", "radiology"),
    *("psychiatry", "rheumatology", "gastroenterology", "haematology", "endocrinology", "ophthalmology", "audiology"),
    *("orthopaedics", "paediatrics", "maternity ward", "stroke ward", "burns unit", "renal unit", "sleep clinic"),
    *("asthma clinic", "allergy clinic", "fracture clinic", "pain clinic", "travel vaccinations", "physiotherapy"),
    *("dental surgery", "vascular surgery", "plastic surgery", "day surgery", "intensive care", "palliative care"),
    *("speech therapy", "infectious diseases", "nuclear medicine", "geriatric medicine", "occupational health"),
    *("genetic counselling", "blood donation"),
)
HOSPITAL_STREET = "infirmary drive"
POLICE_NAME = "Harbourside Police Station"
POLICE_STREET = "Customs House Square"

TAXI_COLOURS = ("black", "white", "red", "yellow", "blue", "grey")
TAXI_MAKES = (
    *("marlin", "corvane", "ostler", "brightwell", "tarrant", "vexley", "hallam", "pendine", "solway", "quarto"),
)

DISHES = ("smoked haddock pie", "lamb with apricots", "chilli crab", "mushroom dumplings", "almond cake", "slow beef")
INTRODUCTIONS = (
    "{name} has served {food} dishes in the {area} of town for three generations",
    "a family kitchen with {food} cooking and a short menu that changes every week",
    "{name} is known for generous plates and friendly service",
    "large tables, an open kitchen and {food} specialities until late",
    "",
)
