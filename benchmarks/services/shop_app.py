"""A shop behind FastAPI's login with a password, which uvicorn runs as `app` of this module."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.security import OAuth2PasswordBearer, OAuth2PasswordRequestForm
from pydantic import BaseModel

from benchmarks.services.shop_data import CUSTOMERS, ORDERS, PRODUCTS, RECEIPT, csv_export

app = FastAPI(title="Shop")
_tokens: dict[str, str] = {}
_PASSWORDS = {"alice": "wonderland"}
_PAGE = 50


class Order(BaseModel):
    id: int
    customer_id: int
    sku: str
    amount: int
    """In cents."""
    placed: str


class NewOrder(BaseModel):
    customer_id: int
    sku: str
    amount: int


class CustomerPage(BaseModel):
    items: list[dict[str, Any]]
    total: int
    page: int
    size: int
    pages: int


@app.post("/token")
def login(form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> dict[str, str]:
    """Sign in with a user name and a password."""
    if _PASSWORDS.get(form.username) != form.password:
        raise HTTPException(400, "Incorrect username or password")
    token = secrets.token_hex(16)
    _tokens[token] = form.username
    return {"access_token": token, "token_type": "bearer"}


def current_user(token: Annotated[str, Depends(OAuth2PasswordBearer(tokenUrl="token"))]) -> str:
    if token not in _tokens:
        raise HTTPException(401, "Not authenticated", headers={"WWW-Authenticate": "Bearer"})
    return _tokens[token]


shop = APIRouter(dependencies=[Depends(current_user)])


@shop.get("/me")
def read_me(user: Annotated[str, Depends(current_user)]) -> dict[str, str]:
    """Show who is signed in."""
    return {"username": user}


@shop.get("/products")
def list_products(skip: int = 0, limit: Annotated[int, Query(le=50)] = 20) -> list[dict[str, Any]]:
    """List the products in the order of their number (sku)."""
    return PRODUCTS[skip : skip + limit]


@shop.get("/customers")
def list_customers(page: int = 1, size: int = 50) -> CustomerPage:
    """List customers, page by page."""
    items = CUSTOMERS[(page - 1) * size : page * size]
    pages = -(-len(CUSTOMERS) // size)
    return CustomerPage(items=items, total=len(CUSTOMERS), page=page, size=size, pages=pages)


@shop.get("/orders")
def list_orders(request: Request, response: Response, cursor: str = "") -> list[Order]:
    """List orders. The header Link names the next page."""
    start = int(cursor.removeprefix("c") or 0)
    if start + _PAGE < len(ORDERS):
        following = request.url.include_query_params(cursor=f"c{start + _PAGE}")
        response.headers["Link"] = f'<{following}>; rel="next"'
    return [Order(**row) for row in ORDERS[start : start + _PAGE]]


@shop.post("/orders", status_code=201)
def create_order(order: NewOrder, response: Response) -> Order:
    """Place an order. The amount is in cents."""
    number = 1000 + order.customer_id
    row = {"id": number, "placed": "2026-06-01T12:00:00+00:00", **order.model_dump()}
    ORDERS.append(row)
    response.headers["Location"] = f"/orders/{number}"
    return Order(**row)


@shop.get("/orders/export", response_class=PlainTextResponse)
def export_orders() -> PlainTextResponse:
    """Export all orders as CSV with the columns id, sku and amount_cents."""
    return PlainTextResponse(csv_export(), media_type="text/csv")


@shop.get("/orders/{order_id}")
def get_order(order_id: int) -> Order:
    """Show an order."""
    for row in ORDERS:
        if row["id"] == order_id:
            return Order(**row)
    raise HTTPException(404, "no such order")


@shop.get("/orders/{order_id}/receipt", response_class=Response)
def get_receipt(order_id: int) -> Response:
    """Download the receipt of an order as PDF."""
    get_order(order_id)
    return Response(RECEIPT, media_type="application/pdf")


app.include_router(shop)
