; matmul_q4_k - y = W x, weights in Q4_K: 8 parts of 32 times 4 bits, each with a scale and a
; minimum of 6 bits.  And the tile of Q5_K, which has fifth bits too.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_k.cpp, matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   esi bytes of fifth bits: 0 or 32   [rbp + L_COUNT] part
;          zmm16-zmm23 two parts, 4 bits each   zmm10, zmm11 zero
;          below r12, 64 bytes each: what scales, what minima are multiplied with; scales of parts 0-3,
;          of 4-7; minima
%include "blocks.inc"

extern matmul_blocks, matmul_blocks.load, matmul_blocks.head
global matmul_q4_k, matmul_q4_k.tile, matmul_q4_k.any
section .text align=1
matmul_q4_k:
    call    matmul_blocks
.tile:
    xor     esi, esi
.any:
    call    matmul_blocks.head
    vsubps  zmm9, zmm30, zmm9
    vmovaps [r12 - 64], zmm8
    vmovaps [r12 - 128], zmm9
    vpunpckhqdq zmm4, zmm4, zmm5        ; of each row the second dword,
    vpunpckhdq zmm0, zmm0, zmm1
    vpunpckhdq zmm2, zmm2, zmm3
    vpunpcklqdq zmm1, zmm0, zmm2        ; the third, the last
    vpunpckhqdq zmm2, zmm0, zmm2
    vpsllw  zmm10, zmm29, 2
    vpsubb  zmm10, zmm10, zmm28         ; bytes of 63
    vpandd  zmm0, zmm4, zmm10           ; 6 bits of parts 0-3,
    vmovdqa64 [r12 - 192], zmm0
    vpandd  zmm0, zmm1, zmm10
    vmovdqa64 [r12 - 320], zmm0
    vpsubb  zmm10, zmm10, zmm31         ; bytes of 48
    vpsrlw  zmm4, zmm4, 2               ; and the upper 2 of parts 4-7,
    vpandd  zmm4, zmm4, zmm10
    vpternlogd zmm4, zmm2, zmm31, 0xf8  ; with their lower 4
    vmovdqa64 [r12 - 256], zmm4
    vpsrlw  zmm1, zmm1, 2
    vpandd  zmm1, zmm1, zmm10
    vpsrlw  zmm2, zmm2, 4
    vpternlogd zmm1, zmm2, zmm31, 0xf8
    vmovdqa64 [r12 - 384], zmm1
    vmovdqa64 zmm10, zmm30
    vmovdqa64 zmm11, zmm30
    add     rax, 16
    and     dword [rbp + L_COUNT], 0
.part:
    mov     ecx, [rbp + L_COUNT]
    test    cl, 1
    jnz     .upper
    push    rax
    shl     ecx, 4                      ; 16 bytes for each part that is done
    add     rax, rcx
    add     rax, rsi
    call    matmul_blocks.load
    MOVE    16, 0, 4
    add     rax, 16
    call    matmul_blocks.load
    MOVE    20, 0, 4
    pop     rax
.upper:
%assign i 0
%rep 8
    vpxor   xmm %+ i, xmm %+ i, xmm %+ i
%assign i i + 1
%endrep
    test    esi, esi
    jz      .four
    add     rax, 16
    call    matmul_blocks.load
    MOVE    4, 0, 4
    sub     rax, 16
    call    matmul_blocks.load
    vmovd   xmm12, [rbp + L_COUNT]
    EIGHT   vpsrlw, xmm12
    EIGHT   vpandd, zmm28
    EIGHT   vpsllw, 4
.four:
%assign i 0
%rep 8
%assign j 16 + i
    vpternlogd zmm %+ i, zmm %+ j, zmm31, 0xf8
    vpsrlw  zmm %+ j, zmm %+ j, 4
%assign i i + 1
%endrep
    mov     ecx, [rbp + L_COUNT]
    mov     edx, ecx
    and     edx, 4
    shl     edx, 4
    neg     rdx                         ; from parts 0-3 to parts 4-7
    not     ecx
    and     ecx, 3
    shl     ecx, 3                      ; bits above those of the part
    vmovd   xmm12, ecx
    vmovdqa64 zmm8, [r12 + rdx - 192]
    vpslld  zmm8, zmm8, xmm12
    vpsrld  zmm8, zmm8, 24
    vcvtdq2ps zmm8, zmm8
    vmulps  zmm8, zmm8, [r12 - 64]
    vmovdqa64 zmm9, [r12 + rdx - 320]
    vpslld  zmm9, zmm9, xmm12
    vpsrld  zmm9, zmm9, 24
    vcvtdq2ps zmm9, zmm9
    vmulps  zmm9, zmm9, [r12 - 128]
    call    [rbp + L_PART]
    inc     dword [rbp + L_COUNT]
    cmp     dword [rbp + L_COUNT], 8
    jb      .part
    lea     rax, [rax + rsi + 128]
    ret
