// Include this first where floats must have the same bits as in numpy: products and sums are not
// joined into fused multiply-adds.
#pragma once

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
