"""An adapter of embeddings to one set of tools, in closed form, from synthetic queries alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from atc.retrieve.base import Floats, Positions

_SHRINKAGE = 0.5
"""How far the covariance is drawn to that of a ball: there are fewer queries than it has numbers."""


def discriminant(queries: Floats, owners: Positions, prototypes: Floats) -> tuple[Floats, Floats]:
    """Weights (documents, dimensions) and biases (documents,) of a linear discriminant: `x @ weights.T + biases` is
    the log-odds, up to a constant of x, that a query of embedding x belongs to each document.

    `queries` (n, dimensions) are the synthetic queries' embeddings, `owners` their documents' positions, `prototypes`
    the documents' means. Directions in which queries of one tool differ from each other (how one asks, made-up names
    and places) count little, those in which tools differ count much. Without queries the weights are the prototypes.
    """
    dimensions = prototypes.shape[1]
    centred = (queries - prototypes[owners]).astype(np.float64)
    if not len(centred):
        return prototypes, np.zeros(len(prototypes), np.float32)
    covariance = centred.T @ centred / len(centred)
    ball = np.trace(covariance) / dimensions
    shrunk = (1 - _SHRINKAGE) * covariance + _SHRINKAGE * max(ball, 1e-6) * np.eye(dimensions)
    weights = np.linalg.solve(shrunk, prototypes.T.astype(np.float64)).T
    biases = -0.5 * np.einsum("nd,nd->n", weights, prototypes)
    return weights.astype(np.float32), biases.astype(np.float32)
