; matmul_q5_0 - y = W x, weights in Q5_0: f16 scale, 32 fifth bits, 32 times 4 bits, less 16.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_0.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   zmm16-zmm19 the first 16 bytes of a block
%include "blocks.inc"

; FIFTH to, from, bytes - adds the fifth bits in the bytes of from, see .bytes.
%macro FIFTH 3
    vpshufb zmm12, zmm %+ %2, %3
    vptestmb k4, zmm12, zmm15
    vpaddb  zmm %+ %1 {k4}, zmm %+ %1, zmm29
%endmacro

extern matmul_blocks, blocks.head, blocks.pair, blocks.split
global matmul_q5_0, matmul_q5_0.tile
section .text align=1
matmul_q5_0:
    call    matmul_blocks
.tile:
    call    blocks.head
    vpxor   xmm9, xmm9, xmm9
    push    6
    pop     rdx
    call    blocks.pair
    call    blocks.split
    add     rax, 16
    vpbroadcastq zmm15, [rel .bits]
    vbroadcasti32x4 zmm13, [rel .bytes]
    vpaddb  zmm14, zmm13, zmm28
    vpaddb  zmm14, zmm14, zmm28
%assign i 0
%rep 4
%assign h 4 + i
%assign from 16 + i
    FIFTH   i, from, zmm13
    FIFTH   h, from, zmm14
%assign i i + 1
%endrep
    vmovdqa64 zmm10, zmm29
    vmovdqa64 zmm11, zmm29
    jmp     [rbp + L_PART]

.bits:
    db      1, 2, 4, 8, 16, 32, 64, 128
.bytes:                                 ; where the bits of 16 weights are
    times 8 db 2
    times 8 db 3
