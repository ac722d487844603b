"""Re-ranking: what a retriever found first is scored again, query and document read together.

`Reranked` takes any `CrossEncoder`: `OnnxCrossEncoder` runs a model of one's own, `EndpointReranker` asks a server.
None is fetched by itself: no package was found that carries the weights of a cross-encoder as data. `Listwise` needs no
further model, it lets the language model choose.
"""

from atc.retrieve.rerank.choose import cross_encoder
from atc.retrieve.rerank.cross_encoder import CrossEncoder, Reranked
from atc.retrieve.rerank.endpoint import EndpointReranker
from atc.retrieve.rerank.listwise import Listwise
from atc.retrieve.rerank.onnx import OnnxCrossEncoder

__all__ = ["CrossEncoder", "EndpointReranker", "Listwise", "OnnxCrossEncoder", "Reranked", "cross_encoder"]
