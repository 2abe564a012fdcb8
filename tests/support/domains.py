"""Folders of domains in several shapes, written the way people write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PETS = {
    "domain.yaml": """\
domain: pets
services:
  pet:
    rows: pets.csv
    name: name
    search: {kind: same}
    answer: [age]
""",
    "pets.csv": "name,kind,age\nRex,dog,3\nTom,cat,7\nIda,dog,\nBob,bird,1\n",
}

CARS = {
    "domain.yaml": """\
domain: car-rental
title: a car rental desk
policy: policy.md
services:
  office:
    title: an office
    rows: offices.json
    name: office
    search: {city: same, closes: at-least}
    answer: [phone]
  car:
    title: a rental car
    rows: cars.csv
    name: model
    search:
      class: same
      seats: at-least
      price: {match: at-most, say: price per day, unit: euros}
      fuel: {match: same, values: [petrol, diesel, electric, hydrogen]}
      extras: contains
      automatic: yes-no
    answer: [phone, mileage]
    book:
      takes: {pickup: text, day: day, days: number 1..30, from hour: time, to hour: time, cover: [none, basic, full]}
      needs: [pickup, day, days]
      one_of: [[from hour, to hour]]
      gives: [reference]
    refers: {pickup: office}
words:
  class: {ask: "What kind of car would you like?", say: "a {value} car", also: [category, kind of car]}
  values: {class: {compact: [small car, subcompact]}}
""",
    "policy.md": "Be kind.\n",
    "offices.json": """[
  {"office": "Korenmarkt", "city": "Ghent", "closes": "18:30", "phone": 93001},
  {"office": "Harbour", "city": "Antwerp", "closes": "24:40", "phone": null}
]
""",
    "cars.csv": """model,class,seats,price,fuel,extras,automatic,phone,mileage
Golf,compact,5,39.50,petrol,gps; child seat,yes,111,unlimited
Polo,compact,4,31,petrol,gps,no,112,200 km
Sharan,van,7,80,diesel,gps; roof box,No,113,unlimited
Zoe,compact,5,45,electric,,true,114,
Tesla,sedan,5,95,electric,child seat,yes,115,300 km
""",
}

CLINIC = {
    "domain.yaml": """\
domain: clinic
title: the front desk of a clinic
services:
  doctor:
    title: a doctor
    rows: doctors.csv
    name: doctor
    id: code
    search:
      speciality: same
      languages: {match: contains, say: language}
      from: {match: at-most, say: first hour}
      video: {match: yes-no, say: video consultation}
    answer: [room, phone]
    book:
      takes: {day: day, time: time, patient: text, visits: number 1..5}
      needs: [day, time, patient]
      gives: [appointment code, waiting number]
  prescription:
    title: a repeat prescription
    book:
      takes: {medicine: [ibuprofen, insulin, salbutamol], packs: number 1..3, pharmacy: text}
      gives: []
""",
    "doctors.csv": """code,doctor,speciality,languages,from,video,room,phone
D1,Dr Ames,cardiology,english; french,9:00,yes,12,0101
D2,Dr Bose,dermatology,english,10:30,no,14,0102
D3,Dr Ames,paediatrics,english; polish,8:15,no,3,0103
D4,Dr Cruz,cardiology,spanish; english,13:00,yes,,0104
D5,Dr Dahl,general practice,english; danish,8:00,yes,1,
D6,Dr Eze,general practice,english,9:30,no,2,0106
D7,Dr Fox,dermatology,english; french,14:00,yes,15,0107
""",
}

LIBRARY = {
    "domain.yaml": """\
domain: library
title: a public library
services:
  branch:
    title: a branch
    rows: branches.json
    name: branch
    search: {quarter: same, closes: at-least}
    answer: [address, phone]
  book:
    title: a book
    rows: books.csv
    name: title
    search: {author: same, genre: same, pages: at-most, year: at-least}
    answer: [shelf, isbn, year]
    book:
      takes: {pick up: text, weeks: number 1..4}
    refers: {pick up: branch}
  room:
    title: a study room
    rows: rooms.csv
    name: room
    search: {seats: at-least, projector: yes-no}
    answer: [floor]
    book:
      takes: {day: day, from: time, until: time, branch: text}
      needs: [day, branch]
      one_of: [[from, until]]
      gives: [door code]
    refers: {branch: [branch]}
""",
    "branches.json": """[
 {"branch": "Old Mill", "quarter": "north", "closes": "18:00", "address": "Mill Lane 1", "phone": "555 01"},
 {"branch": "Harbour", "quarter": "south", "closes": "20:30", "address": "Quay 7", "phone": "555 02"},
 {"branch": "Market", "quarter": "north", "closes": "21:00", "address": "Market Square 3"},
 {"branch": "Hill", "quarter": "west", "closes": "17:30", "address": "Hill Road 12", "phone": "555 04"}]
""",
    "books.csv": """title,author,genre,pages,year,shelf,isbn
The Tide,Anna Vale,novel,320,2011,A1,978-1
Stone and Sky,Ben Oduya,history,540,1999,B4,978-2
Small Engines,Cleo Marsh,manual,180,2020,C2,
Night Ferry,Anna Vale,crime,410,2016,A2,978-4
Bread,Dina Kerr,cookery,260,2008,D1,978-5
The Long Walk,Ben Oduya,novel,700,2021,A7,978-6
""",
    "rooms.csv": "room,seats,projector,floor\nOak,4,no,1\nElm,8,yes,2\nAsh,12,yes,2\nYew,6,no,\n",
}


def domain_folder(folder: Path, files: Mapping[str, str] = PETS) -> Path:
    """Write the folder of a domain."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder


def changed(files: Mapping[str, str], file: str, old: str, new: str) -> dict[str, str]:
    """The files with a text of one of them replaced by another."""
    assert old in files[file], old
    return {**files, file: files[file].replace(old, new)}
