; matmul_q5_0 - y = W x, weights in Q5_0: f16 scale, 32 fifth bits, 32 times 4 bits, less 16.  And
; the tile of Q4_1: f16 scale, f16 minimum, 32 times 4 bits.  x86-64, AVX2 + FMA + F16C.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q5_0.cpp, matmul_q4_1.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   r11 0 for Q4_1, 2 for Q5_0: the bytes that it has more
;          ymm10 the bits 0 to 7 in 8 bytes   ymm9 bytes of 16, in Q4_1 zero
;          ymm8 what the products are less   xmm12 minimum
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.any
global matmul_q5_0, matmul_q5_0.tile, matmul_q5_0.any
section .text align=1
matmul_q5_0:
    call    matmul_blocks
.tile:
    push    2
    pop     r11
    vpbroadcastq ymm10, [rel .bits]
    vmovdqa ymm9, ymm11
.any:
    prefetcht2 [rax + rdx]
    NIBBLES [rax + r11 + 4]
    test    r11d, r11d
    jz      .four
    vpmovzxbq ymm5, [rax + 2]
    vpmuludq ymm5, ymm3, ymm5           ; each of the four bytes 4 times,
    vpshufd ymm5, ymm5, 0xa0            ; 8 times
    vpand   ymm5, ymm10, ymm5
    vpcmpeqb ymm5, ymm10, ymm5
    vpand   ymm5, ymm11, ymm5           ; 16 where the bit is set
    vpor    ymm4, ymm4, ymm5
    vpmaddubsw ymm8, ymm9, [rbx + 8]   ; what they are less
    jmp     .dot
.four:
    vcvtph2ps xmm12, [rax + 2]          ; minimum
    vfmadd231ss xmm1, xmm12, [rbx + 4]
.dot:
    vpmaddubsw ymm7, ymm4, [rbx + 8]
    vpsubw  ymm7, ymm7, ymm8
    vpmaddwd ymm7, ymm2, ymm7
    vcvtph2ps xmm15, [rax]
    ADD_DOT xmm15
    test    r12d, r12d
    jnz     .others
.next:
    add     rax, r11
    add     rbx, 40
    add     rax, 20
    dec     ecx
    jnz     .any
    ret
.others:
    bt      r11d, 1                     ; are they signed?
    call    matmul_blocks.any
    jmp     .next
.bits:
    db      1, 2, 4, 8, 16, 32, 64, 128
