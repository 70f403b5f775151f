; matmul_q6_k - y = W x, weights in Q6_K: 256 times 4 bits, 256 times 2 bits, less 32; 16 i8 scales,
; and their f16 scale.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q6_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   esi scale: 0 2 4 6 1 3 5 7 and 8 more: bit 3 half of the
;          block, bits 1-2 part of it, bit 0 half of the part
;          zmm16-zmm19, zmm20-zmm23 lower bits of this part and of the next   zmm4-zmm7 upper bits
;          zmm15 bytes of 48
;          below r12, 64 bytes each: scales 12-15 of each row, 8-11, 4-7, 0-3; their scale
%include "blocks.inc"

extern matmul_blocks, blocks.dwords, blocks.f16, blocks.scale, blocks.load, blocks.pair
global matmul_q6_k, matmul_q6_k.tile
section .text align=1
matmul_q6_k:
    call    matmul_blocks
.tile:
    add     rax, 194
    call    blocks.dwords
    MOVE    0, 3, 1
    call    blocks.f16
    vmovaps [r12 - 320], zmm9           ; the last of these 16 bytes
    sub     rax, 2
    call    blocks.dwords
    vmovdqa64 [r12 - 256], zmm0
    vmovdqa64 [r12 - 192], zmm1
    vmovdqa64 [r12 - 128], zmm2
    vmovdqa64 [r12 - 64], zmm3
    sub     rax, 192
    vpxor   xmm9, xmm9, xmm9
    vpxor   xmm11, xmm11, xmm11
    vpsllw  zmm10, zmm29, 1             ; 32
    vpaddb  zmm15, zmm10, zmm29
    xor     esi, esi
.quarter:
    push    rax
    mov     ecx, esi
    and     ecx, 8
    shl     ecx, 2                      ; 32 in the second half
    mov     edx, esi
    and     edx, 1
    shl     edx, 4
    add     edx, ecx
    push    rdx                         ; where in the upper bits: 0, 16, 32, 48
    add     rax, rdx
    add     rax, rcx                    ; in the lower bits: 0, 16, 64, 80
    push    32
    pop     rdx
    call    blocks.pair
    pop     rax
    add     rax, [rsp]
    sub     rax, -128
    call    blocks.load
    MOVE    4, 0, 4
    push    rbx
.part:
%assign i 0
%rep 4
%assign h 4 + i
%assign this 16 + i
%assign next 20 + i
    vpsllw  zmm %+ i, zmm %+ h, 4
    vpandd  zmm %+ i, zmm %+ i, zmm15
    vpternlogd zmm %+ i, zmm %+ this, zmm31, 0xf8
    vpsrlw  zmm %+ h, zmm %+ h, 2
    vpsrlw  zmm12, zmm %+ this, 4
    vmovdqa64 zmm %+ this, zmm %+ next
    vmovdqa64 zmm %+ next, zmm12
%assign i i + 1
%endrep
    mov     ecx, esi
    call    blocks.scale
    vmulps  zmm8, zmm8, [r12 - 320]
    mov     edx, esi
    and     edx, 1
    shl     edx, 4
    call    [rbp + L_HALF]
    add     esi, 2
    test    sil, 6
    jnz     .part
    pop     rcx
    pop     rax
    test    sil, 1
    jnz     .odd
    mov     rbx, rcx                    ; the same 4 parts, their other halves
    sub     esi, 6
.odd:
    dec     esi
    cmp     esi, 16
    jb      .quarter
    add     rax, 210
    ret
