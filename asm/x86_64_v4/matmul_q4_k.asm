; matmul_q4_k - y = W x, weights in Q4_K: 8 parts of 32 times 4 bits, each with a scale and a
; minimum of 6 bits.  And the tile of Q5_K, which has fifth bits too.
; x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_k.cpp, matmul_q5_k.cpp
; In       rdi m: Matmul*   esi begin   edx step      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   esi bytes of fifth bits: 0 or 32   [rbp + L_COUNT] part
;          zmm16-zmm23 two parts, 4 bits each   zmm10, zmm11 zero
;          below r12, 64 bytes each: minima of parts 4-7, of 0-3; scales of 4-7, of 0-3; what
;          scales, what minima are multiplied with
%include "blocks.inc"

extern matmul_blocks, blocks.dwords, blocks.f16, blocks.scale, blocks.load, blocks.pair
extern blocks.mask
global matmul_q4_k, matmul_q4_k.tile, matmul_q4_k.any
section .text align=1
matmul_q4_k:
    call    matmul_blocks
.tile:
    xor     esi, esi
.any:
    call    blocks.dwords
    call    blocks.f16
    vsubps  zmm9, zmm30, zmm9
    vmovaps [r12 - 320], zmm8
    vmovaps [r12 - 384], zmm9
    vpsllw  zmm10, zmm29, 2
    vpsubb  zmm10, zmm10, zmm28         ; bytes of 63
    vpandd  zmm4, zmm1, zmm10           ; 6 bits of parts 0-3,
    vpandd  zmm5, zmm2, zmm10
    vmovdqa64 [r12 - 256], zmm4
    vmovdqa64 [r12 - 128], zmm5
    vpsubb  zmm10, zmm10, zmm31         ; bytes of 48
    vpsrlw  zmm1, zmm1, 2               ; and the upper 2 of parts 4-7,
    vpsrlw  zmm2, zmm2, 2
    vpandd  zmm1, zmm1, zmm10
    vpandd  zmm2, zmm2, zmm10
    vpternlogd zmm1, zmm3, zmm31, 0xf8  ; with their lower 4
    vpsrlw  zmm3, zmm3, 4
    vpternlogd zmm2, zmm3, zmm31, 0xf8
    vmovdqa64 [r12 - 192], zmm1
    vmovdqa64 [r12 - 64], zmm2
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
    push    16
    pop     rdx
    call    blocks.pair
    pop     rax
.upper:
    vzeroall                            ; zmm0-zmm15
    test    esi, esi
    jz      .four
    add     rax, 16
    call    blocks.load
    MOVE    4, 0, 4
    sub     rax, 16
    call    blocks.load
    mov     ecx, [rbp + L_COUNT]
    sub     ecx, 4
    vpbroadcastd zmm13, ecx
    EIGHT   vprorvd, zmm13              ; its bit to bit 4
    vmovdqa64 zmm13, zmm29
    call    blocks.mask
.four:
%assign i 0
%rep 8
%assign j 16 + i
    vpternlogd zmm %+ i, zmm %+ j, zmm31, 0xf8
    vpsrlw  zmm %+ j, zmm %+ j, 4
%assign i i + 1
%endrep
    mov     ecx, [rbp + L_COUNT]
    add     ecx, 8
    call    blocks.scale
    vmulps  zmm9, zmm8, [r12 - 384]
    sub     ecx, 8
    call    blocks.scale
    vmulps  zmm8, zmm8, [r12 - 320]
    call    [rbp + L_PART]
    inc     dword [rbp + L_COUNT]
    cmp     dword [rbp + L_COUNT], 8
    jb      .part
    lea     rax, [rax + rsi + 128]
    ret
