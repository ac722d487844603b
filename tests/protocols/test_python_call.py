"""Functions as tools: what they are given, and what they return."""

from pathlib import Path

from protocols.sources import load_tools


def get_chart() -> bytes:
    """Get the chart."""
    return b"\x89PNG\r\n\x1a\n"


def get_path() -> Path:
    """Get a path."""
    return Path("/etc/hostname")


def measure(image: bytes, others: list[bytes]) -> int:
    """Count bytes."""
    return len(image) + sum(map(len, others))


def test_bytes_are_a_file_and_paths_are_texts():
    tools = load_tools([get_chart, get_path, measure])
    chart = tools["get_chart"].send({}).files[()]
    assert (chart.info.name, chart.info.media_type) == ("get_chart.png", "image/png")
    assert tools["get_path"].send({}).value == "/etc/hostname"
    assert tools["measure"].send({"image": chart, "others": [chart, chart]}).value == 24
