; matmul_f16 - y = W x, weights in f16.  x86-64, AVX-512 F.
; Contract asm/kernels.h      Oracle asm/portable/matmul_f16.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul.asm
; Holds    see matmul.asm
%include "load.inc"

%macro LOAD_F16 2                       ; 32 bytes
    vcvtph2ps %1{k1}{z}, %2
%endmacro

extern matmul
global matmul_f16
section .text align=1
matmul_f16:
    call    matmul                      ; which finds the loader by the return address
    LOADER  LOAD_F16, 32
