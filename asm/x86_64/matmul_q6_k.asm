; matmul_q6_k - y = W x, weights in Q6_K: 256 times 4 bits, 256 times 2 bits, less 32; 16 i8 scales,
; each of 16 weights, and their f16 scale.  x86-64, AVX2 or AVX-512: see vector.inc.
; Contract asm/kernels.h      Oracle asm/portable/matmul_q6_k.cpp
; In       rdi m: Matmul*   esi begin   edx end      Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   [rbp + L_COUNT] parts that are done
%include "blocks.inc"

extern matmul_blocks, dots.scaled, rows, rows.scales, rows.pair, blocks.keep, blocks.take
global matmul_q6_k, matmul_q6_k.tile
section .text align=1
matmul_q6_k:
    call    matmul_blocks
.tile:
    PRODUCTS_BY dots.scaled, -32
    add     rax, 208
    call    rows.scales
    vmovaps [r12 + D], v8
    sub     rax, 18
    call    rows
    vmovaps [r12 + SCALES + 0 * VBYTES], v0
    vmovaps [r12 + SCALES + 1 * VBYTES], v1
    vmovaps [r12 + SCALES + 2 * VBYTES], v2
    vmovaps [r12 + SCALES + 3 * VBYTES], v3
    sub     rax, 208
    and     dword [rbp + L_COUNT], 0
.half:
    call    rows.pair
    lea     rdx, [r12 + PARTS + 128]
    call    blocks.keep
    call    rows.pair
    lea     rdx, [r12 + PARTS + 8 * VBYTES + 128]
    call    blocks.keep
    push    rax
    mov     ecx, [rbp + L_COUNT]        ; 0, 4: their upper bits are 64, 32 bytes on
    shl     ecx, 3
    sub     rax, rcx
    add     rax, 64
    call    rows.pair
    pop     rax
    lea     rdx, [r12 + PARTS + 16 * VBYTES + 128]
    call    blocks.keep
    vpsrlw  v12, v13, 2
    vpand   v12, v12, v13
    vpsllw  v12, v12, 4                 ; bytes of 48
    mov     rcx, -8 * VBYTES
.weights:
    vmovaps v0, [r12 + rcx + PARTS + 8 * VBYTES]
    vmovaps v1, [r12 + rcx + PARTS + 16 * VBYTES]
    vmovaps v2, [r12 + rcx + PARTS + 24 * VBYTES]
    vpsllw  v5, v2, 4
    WEIGHT  0, v0, v5
    vpsllw  v5, v2, 2
    WEIGHT  8, v1, v5
    vpsrlw  v0, v0, 4
    WEIGHT  16, v0, v2
    vpsrlw  v1, v1, 4
    vpsrlw  v5, v2, 2
    WEIGHT  24, v1, v5
    add     rcx, VBYTES
    jnz     .weights
.part:
    mov     ecx, [rbp + L_COUNT]
    mov     edx, ecx
    and     edx, 3
    imul    edx, edx, 8 * VBYTES
    lea     rdx, [r12 + rdx + PARTS + 128]
    call    blocks.take
    add     ecx, ecx
    AT_BYTES
    BYTES   v8, 0
    BYTES   v12, 1
    SCALE_BOTH
    vmovaps v8, [r12 + D]
    inc     dword [rbp + L_COUNT]
    call    [rbp + L_PART]
    test    byte [rbp + L_COUNT], 3
    jnz     .part
    cmp     byte [rbp + L_COUNT], 8
    jb      .half
    add     rax, 82
    ret
