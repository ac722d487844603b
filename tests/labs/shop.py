"""A shop over FastAPI and SQLite, as one writes it in an afternoon: `uvicorn tests.labs.shop:app`."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, Field

app = FastAPI(title="Shop")
_shop = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
_shop.row_factory = sqlite3.Row
_shop.executescript("""
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, product_id INTEGER, quantity INTEGER, state TEXT);
INSERT INTO products VALUES (1, 'Lamp', 24.5, 10), (2, 'Desk', 199.0, 3), (3, 'Chair', 79.9, 0);
INSERT INTO customers VALUES (11, 'ann@example.org', 'Ann'), (12, 'ben@example.org', 'Ben');
INSERT INTO orders VALUES (101, 11, 1, 2, 'paid'), (102, 12, 2, 1, 'open');
""")


class Customer(BaseModel):
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$")
    name: str = Field(min_length=1, max_length=40)


class Order(BaseModel):
    customer_id: int
    product_id: int
    quantity: int = Field(ge=1, le=5)


def rows(query: str, *values: object) -> list[dict[str, Any]]:
    return [dict(row) for row in _shop.execute(query, values)]


def one(table: str, number: int) -> dict[str, Any]:
    found = rows(f"SELECT * FROM {table} WHERE id = ?", number)
    if not found:
        raise HTTPException(404, f"no {table.removesuffix('s')} {number}")
    return found[0]


@app.get("/products")
def list_products(
    limit: Annotated[int, Query(ge=1, le=50)] = 20, in_stock: bool = False
) -> list[dict[str, Any]]:
    return rows("SELECT * FROM products WHERE stock > ? LIMIT ?", 0 if in_stock else -1, limit)


@app.get("/products/{product_id}")
def get_product(product_id: int) -> dict[str, Any]:
    return one("products", product_id)


@app.get("/customers")
def list_customers() -> list[dict[str, Any]]:
    return rows("SELECT * FROM customers")


@app.post("/customers", status_code=201)
def add_customer(customer: Customer) -> dict[str, Any]:
    try:
        made = _shop.execute(
            "INSERT INTO customers (email, name) VALUES (?, ?)", (customer.email, customer.name)
        )
    except sqlite3.IntegrityError:
        raise HTTPException(409, "this email is taken") from None
    return one("customers", made.lastrowid or 0)


@app.put("/customers/{customer_id}")
def change_customer(customer_id: int, customer: Customer) -> dict[str, Any]:
    _shop.execute(
        "UPDATE customers SET email = ?, name = ? WHERE id = ?",
        (customer.email, customer.name, customer_id),
    )
    return one("customers", customer_id)


@app.delete("/customers/{customer_id}")
def delete_customer(customer_id: int) -> dict[str, Any]:
    gone = one("customers", customer_id)
    _shop.execute("DELETE FROM customers WHERE id = ?", (customer_id,))
    return gone


@app.get("/customers/{customer_id}/orders")
def list_orders(customer_id: int) -> list[dict[str, Any]]:
    return rows("SELECT * FROM orders WHERE customer_id = ?", one("customers", customer_id)["id"])


@app.post("/orders", status_code=201)
def place_order(order: Order) -> dict[str, Any]:
    one("products", order.product_id)
    values = (one("customers", order.customer_id)["id"], order.product_id, order.quantity)
    made = _shop.execute(
        "INSERT INTO orders (customer_id, product_id, quantity, state) VALUES (?, ?, ?, 'open')",
        values,
    )
    return one("orders", made.lastrowid or 0)


@app.get("/orders/{order_id}")
def get_order(order_id: int) -> dict[str, Any]:
    return one("orders", order_id)
