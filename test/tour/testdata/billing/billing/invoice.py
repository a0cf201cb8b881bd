"""Invoices."""

from dataclasses import dataclass
from datetime import date


@dataclass
class Invoice:
    number: str
    customer: str
    due: date
    cents: int
    paid: bool = False

    def overdue(self, today: date) -> bool:
        return not self.paid and today > self.due
