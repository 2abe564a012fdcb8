"""The tools of a parcel depot's help desk: an example of a tool domain, small enough to read in one go."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from dialgauge.worlds import ToolError, ends, for_user, writes

_FEE = 3.5
_MOST_REFUNDED = 100


class Address(TypedDict):
    """Where a parcel goes."""

    street: str
    postcode: str


def find_customer(
    data: dict[str, Any], email: str | None = None, parcel_id: str | None = None, postcode: str | None = None
) -> Any:
    """Find a customer by email, or by the number of a parcel and the postcode it goes to.

    Args:
        email: The email address of the account.
        parcel_id: For example P-1001.
        postcode: The postcode of the delivery address.
    """
    if email is None and (parcel_id is None or postcode is None):
        raise ToolError("give the email, or the number of a parcel and the postcode")
    for number, customer in data["customers"].items():
        if email is not None and customer["email"].lower() == email.lower():
            return {"customer_id": number, **customer}
    parcel = data["parcels"].get(parcel_id)
    if email is None and parcel is not None and parcel["address"]["postcode"] == postcode:
        return {"customer_id": parcel["customer_id"], **data["customers"][parcel["customer_id"]]}
    raise ToolError("there is no such customer")


def list_parcels(data: dict[str, Any], customer_id: str) -> list[str]:
    """List the numbers of a customer's parcels.

    Args:
        customer_id: For example C-01.
    """
    if customer_id not in data["customers"]:
        raise ToolError(f"there is no customer {customer_id}")
    return [number for number, parcel in data["parcels"].items() if parcel["customer_id"] == customer_id]


def track_parcel(data: dict[str, Any], parcel_id: str) -> Any:
    """Show where a parcel is, when it comes and what is still to be paid.

    Args:
        parcel_id: For example P-1001.
    """
    shown = dict(_parcel(data, parcel_id))
    shown.pop("card_code")
    return shown


def list_windows(data: dict[str, Any], day: Literal["tuesday", "wednesday", "thursday", "friday"]) -> dict[str, int]:
    """List the delivery windows of a day that have room, with the number of parcels each can still take.

    Args:
        day: A day of this week.
    """
    return {hours: room for hours, room in data["windows"][day].items() if room}


@writes
def choose_window(
    data: dict[str, Any], parcel_id: str, day: Literal["tuesday", "wednesday", "thursday", "friday"], hours: str
) -> str:
    """Deliver a parcel in another window.

    Args:
        parcel_id: For example P-1001.
        hours: A window of that day, for example 08:00-12:00.
    """
    parcel = _parcel_at_depot(data, parcel_id)
    windows = data["windows"]
    if not windows[day].get(hours):
        raise ToolError(f"there is no room on {day}, {hours}")
    if parcel["changes"]:
        _charge(data, parcel, _FEE)
    if parcel["window"]:
        windows[parcel["window"]["day"]][parcel["window"]["hours"]] += 1
    windows[day][hours] -= 1
    parcel["window"] = {"day": day, "hours": hours}
    parcel["changes"] += 1
    return f"{parcel_id} will be delivered on {day}, {hours}."


@writes
def hold_for_collection(data: dict[str, Any], parcel_id: str, card_code: str) -> str:
    """Keep a parcel at the depot, where the customer collects it.

    Args:
        parcel_id: For example P-1001.
        card_code: The code on the calling card.
    """
    parcel = _parcel_at_depot(data, parcel_id)
    if parcel["card_code"] != card_code:
        raise ToolError("this is not the code on the calling card")
    if parcel["window"]:
        data["windows"][parcel["window"]["day"]][parcel["window"]["hours"]] += 1
    parcel.update(window=None, status="ready for collection")
    return f"{parcel_id} can be collected until Saturday, 18:00."


@writes
def change_address(data: dict[str, Any], parcel_id: str, address: Address) -> str:
    """Send a parcel to another address within the same postcode.

    Args:
        parcel_id: For example P-1001.
    """
    parcel = _parcel(data, parcel_id)
    if parcel["status"] == "delivered":
        raise ToolError("the parcel was delivered already")
    if address["postcode"] != parcel["address"]["postcode"]:
        raise ToolError("the new address must be within the same postcode")
    parcel["address"] = {"street": address["street"], "postcode": address["postcode"]}
    return f"{parcel_id} goes to {address['street']}."


@writes
def pay_duty(data: dict[str, Any], parcel_id: str) -> dict[str, float]:
    """Pay the customs duty of a parcel from the customer's account.

    Args:
        parcel_id: For example P-1001.
    """
    parcel = _parcel(data, parcel_id)
    if not parcel["duty"]:
        raise ToolError("there is no duty to pay")
    _charge(data, parcel, parcel["duty"])
    paid, parcel["duty"] = parcel["duty"], 0
    return {"paid": paid, "balance": data["customers"][parcel["customer_id"]]["balance"]}


@writes
def open_claim(data: dict[str, Any], parcel_id: str, damage: str) -> dict[str, float]:
    """Refund a parcel that arrived damaged.

    Args:
        parcel_id: For example P-1001.
        damage: What is broken, in a few words.
    """
    parcel = _parcel(data, parcel_id)
    if parcel["status"] != "delivered":
        raise ToolError("only a delivered parcel can be claimed for")
    if parcel["claim"]:
        raise ToolError("there is a claim for this parcel already")
    refund = min(parcel["declared_value"], _MOST_REFUNDED)
    parcel["claim"] = {"damage": damage, "refund": refund}
    customer = data["customers"][parcel["customer_id"]]
    customer["balance"] = round(customer["balance"] + refund, 2)
    return {"refund": refund, "balance": customer["balance"]}


@ends
def transfer_to_person(data: dict[str, Any], summary: str) -> str:
    """Hand the customer over to a person.

    Args:
        summary: What the customer wants.
    """
    return "A colleague takes over."


@for_user
def read_calling_card(data: dict[str, Any], parcel_id: str) -> str:
    """Look at the card that the driver left in your letter box.

    Args:
        parcel_id: The number of the parcel on the card, for example P-1001.
    """
    code = _parcel(data, parcel_id)["card_code"]
    if not code:
        raise ToolError("there is no card for this parcel")
    return f"We missed you! Parcel {parcel_id}, code {code}."


def check_nothing_undeliverable(data: dict[str, Any]) -> bool:
    """No parcel has a window or waits for collection while its duty is unpaid."""
    parcels = data["parcels"].values()
    return not any(
        parcel["duty"] and (parcel["window"] or parcel["status"] == "ready for collection") for parcel in parcels
    )


def check_one_claim_for_two_parcels(data: dict[str, Any]) -> bool:
    """Of the two vases exactly one is claimed for."""
    return [bool(data["parcels"][number]["claim"]) for number in ("P-1007", "P-1008")].count(True) == 1


def _parcel(data: dict[str, Any], parcel_id: str) -> Any:
    if parcel_id not in data["parcels"]:
        raise ToolError(f"there is no parcel {parcel_id}")
    return data["parcels"][parcel_id]


def _parcel_at_depot(data: dict[str, Any], parcel_id: str) -> Any:
    parcel = _parcel(data, parcel_id)
    if parcel["status"] != "at the depot":
        raise ToolError(f"the parcel is not at the depot but {parcel['status']}")
    if parcel["duty"]:
        raise ToolError(f"a duty of {parcel['duty']} euros is unpaid")
    return parcel


def _charge(data: dict[str, Any], parcel: Any, amount: float) -> None:
    customer = data["customers"][parcel["customer_id"]]
    if customer["balance"] < amount:
        raise ToolError(f"the account holds {customer['balance']} euros, and {amount} are needed")
    customer["balance"] = round(customer["balance"] - amount, 2)
