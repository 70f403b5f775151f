; matmul_q6_k - y = W x, weights in Q6_K: 256 times 4 bits, 256 times 2 bits, less 32; 16 i8 scales,
; and their f16 scale.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q6_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   esi bit 3 half of the block, bit 2 second 16 of each 32, bits 0-1 part
;          zmm16-zmm19, zmm20-zmm23 lower bits of this part and of the next   zmm4-zmm7 upper bits
;          zmm15 bytes of 48
;          below r12, 64 bytes each: scales 12-15 of each row, 8-11, 4-7, 0-3; their scale
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.load, matmul_blocks.dwords, matmul_blocks.f16
extern matmul_blocks.scale
global matmul_q6_k, matmul_q6_k.tile
section .text align=1
matmul_q6_k:
    call    matmul_blocks
.tile:
    add     rax, 194
    call    matmul_blocks.dwords
    MOVE    0, 3, 1
    call    matmul_blocks.f16
    vmovaps [r12 - 320], zmm9           ; the last of these 16 bytes
    sub     rax, 2
    call    matmul_blocks.dwords
    vmovdqa64 [r12 - 256], zmm0
    vmovdqa64 [r12 - 192], zmm1
    vmovdqa64 [r12 - 128], zmm2
    vmovdqa64 [r12 - 64], zmm3
    sub     rax, 192
    MOVE    9, 30, 1
    MOVE    11, 30, 1
    vpsllw  zmm10, zmm29, 1             ; 32
    vpaddb  zmm15, zmm10, zmm29
    xor     esi, esi
.quarter:
    push    rax
    mov     ecx, esi
    shr     ecx, 2
    mov     edx, ecx
    shl     edx, 4
    push    rdx                         ; where in the upper bits: 0, 16, 32, 48
    and     ecx, 2
    shl     ecx, 4
    add     rax, rdx
    add     rax, rcx                    ; in the lower bits: 0, 16, 64, 80
    call    matmul_blocks.load
    MOVE    16, 0, 4
    add     rax, 32
    call    matmul_blocks.load
    MOVE    20, 0, 4
    pop     rax
    add     rax, [rsp]
    sub     rax, -128
    call    matmul_blocks.load
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
    mov     ecx, esi                    ; of the 16 scales the one
    mov     eax, esi                    ; 8 * half + 2 * part + which 16
    and     ecx, 11
    and     eax, 3
    add     ecx, eax
    mov     eax, esi
    shr     eax, 2
    and     eax, 1
    add     ecx, eax
    call    matmul_blocks.scale
    vmulps  zmm8, zmm8, [r12 - 320]
    mov     edx, eax
    shl     edx, 4
    call    [rbp + L_HALF]
    inc     esi
    test    sil, 3
    jnz     .part
    pop     rcx
    test    sil, 4
    cmovnz  rbx, rcx                    ; the same 4 parts, the other halves
    pop     rax
    cmp     esi, 16
    jb      .quarter
    add     rax, 210
    ret
