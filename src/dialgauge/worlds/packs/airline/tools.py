"""The tools of τ-bench's airline, written from their specification (what they do, not how they were written).

What looks like a mistake here is one there, and verdicts rest on it: seats are never taken, a cancelled reservation can
be cancelled again, a changed cabin is not stored, a certificate is used up whole. Refused although the original happens
to accept it: a text or an object in place of a list of flights or payments.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from dialgauge.worlds.tools import AsGiven, ToolError, calculated, ends, writes

_NOW = "2024-05-15T15:00:00"
_BOOKING_IDS = ("HATHAT", "HATHAU", "HATHAV")
_CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
_BAG, _INSURANCE = 50, 30
_AIRPORTS = {
    "SFO": "San Francisco", "JFK": "New York", "LAX": "Los Angeles", "ORD": "Chicago", "DFW": "Dallas",
    "DEN": "Denver", "SEA": "Seattle", "ATL": "Atlanta", "MIA": "Miami", "BOS": "Boston", "PHX": "Phoenix",
    "IAH": "Houston", "LAS": "Las Vegas", "MCO": "Orlando", "EWR": "Newark", "CLT": "Charlotte", "MSP": "Minneapolis",
    "DTW": "Detroit", "PHL": "Philadelphia", "LGA": "LaGuardia",
}  # fmt: skip

Cabin = AsGiven[Literal["basic_economy", "economy", "business"]]
TripType = AsGiven[Literal["one_way", "round_trip"]]
YesNo = AsGiven[Literal["yes", "no"]]


class Flight(TypedDict):
    """A flight on a day; further keys are stored with it."""

    flight_number: str
    date: str


class Passenger(TypedDict):
    """Who flies."""

    first_name: str
    last_name: str
    dob: str


class Payment(TypedDict):
    """A part of the price, and what pays it."""

    payment_id: str
    amount: float


@writes
def book_reservation(
    data: dict[str, Any],
    user_id: str,
    origin: AsGiven[str],
    destination: AsGiven[str],
    flight_type: TripType,
    cabin: Cabin,
    flights: list[Flight],
    passengers: AsGiven[list[Passenger]],
    payment_methods: list[Payment],
    total_baggages: AsGiven[int],
    nonfree_baggages: float,
    insurance: YesNo,
) -> Any:
    """Book flights for a user; the payments must add up to the price.

    Args:
        user_id: Whose booking it is, for example sara_doe_496.
        origin: The airport of departure, for example SFO.
        destination: The airport of arrival, for example JFK.
        flights: Every flight of the trip, in order.
        payment_methods: Which of the user's payment methods pays how much.
        total_baggages: All pieces of baggage.
        nonfree_baggages: Those that are paid for, 50 dollars each.
        insurance: Travel insurance, 30 dollars for each passenger.
    """
    user = _user(data, user_id)
    booked = [_checked_flight(data, flight, cabin, len(passengers)) for flight in flights]
    for payment in payment_methods:
        method = _method(user, payment["payment_id"])
        if method["source"] in ("gift_card", "certificate") and method["amount"] < payment["amount"]:
            raise ToolError(f"{payment['payment_id']} does not hold {payment['amount']}")
    price = sum(flight["price"] for flight in booked) * len(passengers) + _BAG * nonfree_baggages
    if insurance == "yes":
        price += _INSURANCE * len(passengers)
    paid = sum(payment["amount"] for payment in payment_methods)
    if paid != price:
        raise ToolError(f"the price is {price}, and the payments add up to {paid}")
    for payment in payment_methods:
        method = _method(user, payment["payment_id"])
        if method["source"] == "gift_card":
            method["amount"] -= payment["amount"]
        elif method["source"] == "certificate":
            del user["payment_methods"][payment["payment_id"]]
    number = next((each for each in _BOOKING_IDS if each not in data["reservations"]), _BOOKING_IDS[-1])
    data["reservations"][number] = {
        "reservation_id": number,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": booked,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": _NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    user["reservations"].append(number)
    return data["reservations"][number]


@writes
def cancel_reservation(data: dict[str, Any], reservation_id: str) -> Any:
    """Cancel a whole reservation.

    Args:
        reservation_id: For example ZFA04Y.
    """
    reservation = _reservation(data, reservation_id)
    history = reservation["payment_history"]
    history += [{"payment_id": entry["payment_id"], "amount": -entry["amount"]} for entry in history]
    reservation["status"] = "cancelled"
    return reservation


@writes
def update_reservation_baggages(
    data: dict[str, Any], reservation_id: str, total_baggages: AsGiven[int], nonfree_baggages: float, payment_id: str
) -> Any:
    """Change the baggage of a reservation; further paid pieces cost 50 dollars each.

    Args:
        reservation_id: For example ZFA04Y.
        total_baggages: All pieces of baggage from now on.
        nonfree_baggages: Those of them that are paid for.
        payment_id: A credit card or gift card of the user, for example gift_card_7815826.
    """
    reservation = _reservation(data, reservation_id)
    cost = _BAG * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    method = _chargeable(data, reservation, payment_id, cost)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _charge(reservation, method, payment_id, cost)
    return reservation


@writes
def update_reservation_flights(
    data: dict[str, Any], reservation_id: str, cabin: Cabin, flights: list[Flight], payment_id: str
) -> Any:
    """Change the flights or the cabin of a reservation; the difference is charged or refunded.

    Args:
        reservation_id: For example ZFA04Y.
        flights: Every flight of the trip from now on, those that stay included.
        payment_id: A credit card or gift card of the user, for example gift_card_7815826.
    """
    reservation = _reservation(data, reservation_id)
    travellers = len(reservation["passengers"])
    stored = {(flight["flight_number"], flight["date"]): flight for flight in reversed(reservation["flights"])}
    same_cabin = cabin == reservation["cabin"]
    changed = []
    for flight in flights:
        kept = stored.get((flight["flight_number"], flight["date"])) if same_cabin else None
        if kept is None:
            changed.append(_checked_flight(data, flight, cabin, travellers))
        else:
            changed.append({**flight, **{key: kept[key] for key in ("price", "origin", "destination")}})
    before = sum(flight["price"] for flight in reservation["flights"])
    cost = (sum(flight["price"] for flight in changed) - before) * travellers
    method = _chargeable(data, reservation, payment_id, cost)
    reservation["flights"] = changed
    _charge(reservation, method, payment_id, cost)
    return reservation


@writes
def update_reservation_passengers(
    data: dict[str, Any], reservation_id: str, passengers: AsGiven[list[Passenger]]
) -> Any:
    """Correct the passengers of a reservation; their number cannot change.

    Args:
        reservation_id: For example ZFA04Y.
    """
    reservation = _reservation(data, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise ToolError("the number of passengers cannot change")
    reservation["passengers"] = passengers
    return reservation


@writes
def send_certificate(data: dict[str, Any], user_id: str, amount: AsGiven[float]) -> Any:
    """Give a user a certificate.

    Args:
        user_id: Who gets it, for example sara_doe_496.
        amount: Its worth in dollars.
    """
    methods = _user(data, user_id)["payment_methods"]
    number = next((each for each in _CERTIFICATE_IDS if each not in methods), None)
    if number is None:
        return None
    methods[number] = {"source": "certificate", "amount": amount, "id": number}
    return f"The certificate {number} was added for {user_id}, amount {amount}."


def get_user_details(data: dict[str, Any], user_id: str) -> Any:
    """Show a user's profile with payment methods and reservations.

    Args:
        user_id: For example sara_doe_496.
    """
    return _user(data, user_id)


def get_reservation_details(data: dict[str, Any], reservation_id: str) -> Any:
    """Show a reservation.

    Args:
        reservation_id: For example 8JX2WO.
    """
    return _reservation(data, reservation_id)


def list_all_airports(data: dict[str, Any]) -> dict[str, str]:
    """List the airports, code and city."""
    return dict(_AIRPORTS)


def search_direct_flight(data: dict[str, Any], origin: str, destination: str, date: str) -> list[Any]:
    """Find direct flights between two airports on a day.

    Args:
        origin: An airport code, for example JFK.
        destination: An airport code, for example LAX.
        date: As YYYY-MM-DD.
    """
    return [
        _leg(flight, date)
        for flight in data["flights"].values()
        if flight["origin"] == origin and flight["destination"] == destination and _is_available(flight, date)
    ]


def search_onestop_flight(data: dict[str, Any], origin: str, destination: str, date: str) -> list[Any]:
    """Find connections with one stop between two airports.

    Args:
        origin: An airport code, for example JFK.
        destination: An airport code, for example LAX.
        date: The day of the first flight, as YYYY-MM-DD.
    """
    flights = list(data["flights"].values())
    pairs = []
    for first in flights:
        if first["origin"] != origin:
            continue
        for second in flights:
            if second["origin"] != first["destination"] or second["destination"] != destination:
                continue
            next_day = "+1" in first["scheduled_arrival_time_est"]
            second_date = f"2024-05-{int(date[-2:]) + 1}" if next_day else date
            if first["scheduled_arrival_time_est"] > second["scheduled_departure_time_est"]:
                continue
            if _is_available(first, date) and _is_available(second, second_date):
                # The second leg shows the seats and prices of the first day, as it does in the original.
                pairs.append([{**_leg(first, date), "date": date}, {**_leg(second, date), "date": second_date}])
    return pairs


def calculate(data: dict[str, Any], expression: str) -> str:
    """Calculate the value of an expression.

    Args:
        expression: Numbers, + - * / and brackets.
    """
    return calculated(expression)


def think(data: dict[str, Any], thought: AsGiven[str]) -> str:
    """Note a thought; nothing happens.

    Args:
        thought: The thought.
    """
    return ""


@ends
def transfer_to_human_agents(data: dict[str, Any], summary: AsGiven[str]) -> str:
    """Hand the user over to a person, if the policy says so or they ask for it and no tool can help.

    Args:
        summary: What the user wants.
    """
    return "The user was transferred to a person."


def _user(data: dict[str, Any], user_id: str) -> Any:
    if user_id not in data["users"]:
        raise ToolError(f"there is no user {user_id}")
    return data["users"][user_id]


def _reservation(data: dict[str, Any], reservation_id: str) -> Any:
    if reservation_id not in data["reservations"]:
        raise ToolError(f"there is no reservation {reservation_id}")
    return data["reservations"][reservation_id]


def _method(user: Any, payment_id: str) -> Any:
    if payment_id not in user["payment_methods"]:
        raise ToolError(f"{payment_id} is not a payment method of this user")
    return user["payment_methods"][payment_id]


def _chargeable(data: dict[str, Any], reservation: Any, payment_id: str, cost: float) -> Any:
    """A method of the reservation's owner that can pay the cost of a change."""
    method = _method(_user(data, reservation["user_id"]), payment_id)
    if method["source"] == "certificate":
        raise ToolError("a certificate cannot pay for a change")
    if method["source"] == "gift_card" and method["amount"] < cost:
        raise ToolError(f"{payment_id} does not hold {cost}")
    return method


def _charge(reservation: Any, method: Any, payment_id: str, cost: float) -> None:
    if method["source"] == "gift_card":
        method["amount"] -= cost
    if cost != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": cost})


def _checked_flight(data: dict[str, Any], flight: Flight, cabin: Any, travellers: int) -> dict[str, Any]:
    """The flight with price, origin and destination; an error where it cannot be booked."""
    number, date = flight["flight_number"], flight["date"]
    if number not in data["flights"]:
        raise ToolError(f"there is no flight {number}")
    record = data["flights"][number]
    if not _is_available(record, date):
        raise ToolError(f"flight {number} cannot be booked on {date}")
    day = record["dates"][date]
    if day["available_seats"][cabin] < travellers:
        raise ToolError(f"flight {number} has too few seats on {date}")
    price = day["prices"][cabin]
    return {**flight, "price": price, "origin": record["origin"], "destination": record["destination"]}


def _is_available(flight: Any, date: str) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _leg(flight: Any, date: str) -> dict[str, Any]:
    shown = {key: value for key, value in flight.items() if key != "dates"}
    return {**shown, **flight["dates"][date]}
