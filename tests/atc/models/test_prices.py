"""Prices of tokens."""

from atc.models.prices import FREE, Price, price_of


def test_prices_of_models() -> None:
    assert price_of("local") == price_of("my-weights.gguf") == FREE
    assert price_of("gpt-4o-mini-2024-07-18") == price_of("openai/gpt-4o-mini") == Price(0.15, 0.60)
    assert price_of("gpt-4o-latest") == Price(2.50, 10.0)
    assert price_of("gpt-4o-audio") is None
    assert price_of("scripted") is None
    assert Price(1.0, 4.0).of(500_000, 250_000) == 1.5
