"""Methods with a prototype for each cluster: ECM, CCM, BCM, CECM, BPEC, EGMM, WMVEC."""
