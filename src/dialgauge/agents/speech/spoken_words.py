"""Words that people use for values, whatever the world: cuisines, numbers, ways to say "centre" or "cheap"."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COLOURS = ("black", "white", "red", "yellow", "blue", "grey", "gray", "green", "silver", "orange", "brown")
MAKES = (
    *(
        "toyota",
        "skoda",
        "bmw",
        "honda",
        "ford",
        "audi",
        "lexus",
        "volvo",
        "volkswagen",
        "tesla",
        "fiat",
        "kia",
        "nissan",
    ),
    *("mercedes", "renault", "peugeot", "opel", "vauxhall", "citroen", "mazda", "seat", "hyundai"),
)
STREETS = frozenset(
    ("street", "road", "lane", "avenue", "drive", "parade", "square", "passage", "terrace", "rd", "row", "quay")
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        _words("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen")
    )
}
SOME_NUMBER = (
    *("several", "many", "a few", "quite a few", "a number", "lots", "a lot", "plenty", "multiple", "both", "some"),
    *("a couple", "various", "a variety", "numerous"),
)
#: What people call slots whose names are short for something.
CALLED = {
    "ref": "reference number",
    "leaveat": "departure time",
    "arriveby": "arrival time",
    "openhours": "opening hours",
    "trainid": "train ID",
    "phone": "phone number",
    "pricerange": "price range",
}
#: Ways to say a value of a slot, beside the value itself.
ALSO_SAID = {
    ("area", "centre"): ("center", "city centre", "city center", "town centre", "town center", "central", "downtown"),
    ("area", "north"): ("northern",),
    ("area", "south"): ("southern",),
    ("area", "east"): ("eastern",),
    ("area", "west"): ("western",),
    ("pricerange", "cheap"): ("cheaper", "cheapest", "cheaply", "inexpensive", "low priced", "budget"),
    ("pricerange", "moderate"): ("moderately", "moderately priced", "moderate priced", "mid priced", "mid range"),
    ("pricerange", "expensive"): ("pricey", "upscale", "high end", "expensively", "high priced", "luxury"),
    ("type", "guesthouse"): ("guest house", "guest houses", "guesthouses", "bed and breakfast"),
    ("type", "swimmingpool"): ("swimming pool", "swimming pools", "swimmingpools", "pool", "swimming"),
    ("type", "nightclub"): ("night club", "night clubs", "nightclubs", "club", "clubs"),
    ("type", "concerthall"): ("concert hall", "concert halls", "concerthalls"),
    ("type", "multiple sports"): ("multiple sport", "multi sport", "multi sports", "mutliple sports", "sports"),
    ("type", "boat"): ("boats", "boating"),
    ("type", "theatre"): ("theater", "theaters", "theatres"),
    ("type", "architecture"): ("architectural",),
    ("type", "museum"): ("museums", "gallery", "galleries"),
    ("food", "asian oriental"): ("asian", "oriental"),
    ("food", "portuguese"): ("portugese",),
    ("food", "mediterranean"): ("mediteranean",),
}
#: What people ask for although no restaurant of the town may serve it.
FOODS = (
    *(
        "afghan",
        "afternoon tea",
        "african",
        "american",
        "arabian",
        "argentinian",
        "asian",
        "asian oriental",
        "australasian",
        "australian",
    ),
    *("austrian", "barbeque", "basque", "belgian", "bistro", "brazilian", "british", "cajun", "cantonese", "caribbean"),
    *(
        "catalan",
        "chinese",
        "christmas",
        "colombian",
        "cornish",
        "corsica",
        "corsican",
        "creative",
        "crossover",
        "cuban",
    ),
    *("czech", "danish", "dutch", "eastern european", "egyptian", "english", "eritrean", "ethiopian", "european"),
    *("filipino", "finnish", "french", "fusion", "gastropub", "georgian", "german", "greek", "halal", "hungarian"),
    *(
        "indian",
        "indonesian",
        "international",
        "iranian",
        "irish",
        "israeli",
        "italian",
        "jamaican",
        "japanese",
        "kosher",
    ),
    *("korean", "latin american", "lebanese", "light bites", "malaysian", "mediterranean", "mexican", "middle eastern"),
    *("modern american", "modern british", "modern eclectic", "modern english", "modern european", "modern global"),
    *(
        "molecular gastronomy",
        "mongolian",
        "moroccan",
        "nepalese",
        "new zealand",
        "nigerian",
        "nordic",
        "north african",
    ),
    *(
        "north american",
        "north indian",
        "northern european",
        "norwegian",
        "pakistani",
        "panasian",
        "persian",
        "peruvian",
    ),
    *("polish", "polynesian", "portuguese", "romanian", "russian", "scandinavian", "scottish", "seafood", "sichuan"),
    *(
        "singaporean",
        "south african",
        "south american",
        "south indian",
        "spanish",
        "sri lankan",
        "steakhouse",
        "swedish",
    ),
    *(
        "swiss",
        "syrian",
        "taiwanese",
        "tapas",
        "thai",
        "the americas",
        "tibetan",
        "traditional",
        "traditional american",
    ),
    *("turkish", "tuscan", "ukrainian", "unusual", "vegan", "vegetarian", "venetian", "vietnamese", "welsh", "world"),
)
#: Words before "food" or "cuisine" that name no food.
NO_FOOD = frozenset(
    _words(
        "of the their good great any some what kind type no which delicious same that this for your excellent fine "
        "and or a an , . expensive cheap moderate about nice serve serves serving offers offer have fast in my"
    )
)
PLACE_NOUNS = frozenset(("hotel", "restaurant", "attraction"))
BEFORE_PLACE = frozenset(("from", "to", "at", "leave", "leaves", "leaving", "reach", "visit"))
#: Ends of names that people leave out, and words that alone are no name.
NAME_ENDS = (
    *(("restaurant",), ("hotel",), ("guest", "house"), ("guesthouse",), ("college",), ("museum",), ("bar",)),
    *(("bed", "and", "breakfast"), ("lodge",), ("cinema",), ("nightclub",), ("church",), ("theatre",)),
)
NO_NAME = frozenset(
    _words(
        "ask home the one two old people all hills jesus saint great little home house hotel city centre club bridge "
        "restaurant travellers rice royal bloomsbury express regency castle cambridge university holy queens kings "
        "golden autumn north south place house station street park food table room train taxi price area"
    )
)
