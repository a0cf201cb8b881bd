"""Compares the totals of stored orders with the cart's."""

import csv
import sys


def total(lines):
    """The price of an order with tax."""
    amount = sum(float(line["price"]) * int(line["quantity"]) * (1 + float(line["tax"])) for line in lines)
    return round(amount, 2)


def main(path):
    with open(path, newline="") as file:
        orders = {}
        for row in csv.DictReader(file):
            orders.setdefault(row["order"], []).append(row)
    for order, lines in orders.items():
        print(order, total(lines))


if __name__ == "__main__":
    main(sys.argv[1])
