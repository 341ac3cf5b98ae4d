//go:build linux

#include "textflag.h"

// func int80(nr, a uint32) int32
TEXT ·int80(SB), NOSPLIT, $0-12
	MOVL nr+0(FP), AX
	MOVL a+4(FP), BX
	XORL CX, CX
	XORL DX, DX
	XORL SI, SI
	XORL DI, DI
	INT  $0x80
	MOVL AX, ret+8(FP)
	RET
