; matmul_q4_k - y = W x, weights in Q4_K: 8 parts of 32 times 4 bits, each with a scale and a
; minimum of 6 bits.  x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q4_k.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   [rbp + L_COUNT] parts that are done
%include "blocks.inc"

extern matmul_blocks, dots, rows, rows.scales, rows.pair
extern blocks.keep, blocks.take, blocks.mask, blocks.high
global matmul_q4_k, matmul_q4_k.tile, matmul_q4_k.scales, matmul_q4_k.part
section .text align=1
matmul_q4_k:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots, 0
    call    .scales
.parts:
    call    rows.pair
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
    call    blocks.mask                 ; lower halves are a part, upper ones the next
    call    .part
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.take
    call    blocks.high
    call    .part
    cmp     byte [rbp + L_COUNT], 8
    jb      .parts
    ret

; The scales of 8 parts, bytes 0-7 of those at SCALES; their minima, bytes 8-15; D, D_MIN.
; The file has 6 bits of parts 0-3 in bytes 4-11, with the upper 2 of parts 4-7; their lower 4, of a
; scale and a minimum, in bytes 12-15.
.scales:
    call    rows.scales
    vmovaps [r12 + D], v8
    call    rows.scales
    vpxor   v0, v0, v0
    vsubps  v0, v0, v8
    vmovaps [r12 + D_MIN], v0
    sub     rax, 4
    call    rows
    vpsllw  v12, v13, 2
    vpor    v12, v12, v13               ; bytes of 63
    vpand   v0, v1, v12
    vpand   v8, v2, v12
    vpxor   v12, v12, v13               ; bytes of 48
    vpsrlw  v4, v1, 2
    vpand   v4, v4, v12
    vpand   v1, v3, v13
    vpor    v1, v1, v4
    vpsrlw  v4, v2, 2
    vpand   v4, v4, v12
    vpsrlw  v3, v3, 4
    vpand   v3, v3, v13
    vpor    v3, v3, v4
    vmovaps [r12 + SCALES + 0 * VBYTES], v0
    vmovaps [r12 + SCALES + 1 * VBYTES], v1
    vmovaps [r12 + SCALES + 2 * VBYTES], v8
    vmovaps [r12 + SCALES + 3 * VBYTES], v3
    and     dword [rbp + L_COUNT], 0
    ret

; The next part, whose weights are in v0-v7.
.part:
    mov     ecx, [rbp + L_COUNT]
    AT_BYTES
    BYTES   v8, 0
    BYTES   v9, 2 * VBYTES
    vcvtdq2ps v8, v8
    vcvtdq2ps v9, v9
    vmulps  v8, v8, [r12 + D]
    vmulps  v9, v9, [r12 + D_MIN]
    inc     dword [rbp + L_COUNT]
    jmp     [rbp + L_PART]
