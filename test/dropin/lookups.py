# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""lookups.py LIBRARY RELEASE: the calls as ctypes finds and calls them."""
import ctypes
import errno
import sys

verbs = ctypes.CDLL(sys.argv[1], use_errno=True)
verbs.ibv_alloc_buf.restype = ctypes.c_void_p
verbs.ibv_alloc_buf.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
verbs.ibv_free_buf.argtypes = [ctypes.c_void_p]
verbs.ibv_free_buf.restype = None

# A size of 0 and a missing domain are refused before any device is asked. The library's own may not.
if int(sys.argv[2]) < 64:
    handle = ctypes.c_void_p(0)
    assert verbs.ibv_alloc_buf(None, 0, ctypes.byref(handle)) is None
    assert ctypes.get_errno() == errno.EINVAL, ctypes.get_errno()
    assert handle.value is None
verbs.ibv_free_buf(None)
assert verbs.ibv_get_device_list and verbs.ibv_reg_mr_ex and verbs.ibv_query_port_speed
try:
    verbs.ibv_no_such_call
except AttributeError as absent:
    assert "undefined symbol: ibv_no_such_call" in str(absent), absent
else:
    raise AssertionError("ibv_no_such_call was found")
print("ctypes agrees")
