"""Methods that see dissimilarities alone: RECM, ECMdd, MECM, MultiviewECMdd."""
