; matmul_f32 - y = W x, weights in f32.  x86-64, AVX-512 F.
; Contract asm/kernels.h      Oracle asm/portable/matmul_f32.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul.asm
; Holds    see matmul.asm
%include "load.inc"

%macro LOAD_F32 2                       ; 64 bytes
    vmovups %1{k1}{z}, %2
%endmacro

extern matmul
global matmul_f32
section .text align=1
matmul_f32:
    call    matmul                      ; which finds the loader by the return address
    LOADER  LOAD_F32, 64
