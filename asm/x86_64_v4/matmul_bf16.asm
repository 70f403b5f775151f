; matmul_bf16 - y = W x, weights in bf16.  x86-64, AVX-512 F.
; Contract asm/kernels.h      Oracle asm/portable/matmul_bf16.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul.asm
; Holds    see matmul.asm
%include "load.inc"

%macro LOAD_BF16 2                       ; 32 bytes
    vpmovzxwd %1{k1}{z}, %2             ; the upper half of an f32
    vpslld  %1, %1, 16
%endmacro

extern matmul
global matmul_bf16
section .text align=1
matmul_bf16:
    call    matmul                      ; which finds the loader by the return address
    LOADER  LOAD_BF16, 32
