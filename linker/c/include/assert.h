// SPDX-License-Identifier: Apache-2.0
// assert.h: a failed assertion panics the task. A file may include it again with NDEBUG changed, so it has no guard.
#include <sys/cdefs.h>

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif

#if !defined(__cplusplus) && !defined(static_assert) && __STDC_VERSION__ >= 201112L && __STDC_VERSION__ <= 201710L
#define static_assert _Static_assert
#endif

__BEGIN_DECLS
__JANUS_NORETURN void __assert_fail(const char* condition, const char* file, unsigned line,
                                    const char* function) __JANUS_NOTHROW;
__END_DECLS
