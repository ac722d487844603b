"""The schema of a tool's responses, inferred from responses (docs/probing-schemas.md)."""

from probing.infer.inference import Inference, infer

__all__ = ["Inference", "infer"]
