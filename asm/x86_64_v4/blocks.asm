; blocks - what the tiles of quantised weights call: dot products, and ways to load a block.
; x86-64, AVX-512 F + BW + VNNI.
; Read first: matmul_blocks.asm, which says what zmm0-zmm11, rax, rbx and so on hold.
%include "blocks.inc"

global blocks.columns, blocks.half, blocks.head, blocks.dwords, blocks.f16, blocks.scale
global blocks.load, blocks.pair, blocks.nibbles, blocks.split, blocks.mask
section .text align=1
blocks:
; The dot products of 16 rows with all columns, 32 of each, to the sums.  Moves rbx to the next 32.
; In       zmm0-zmm11, see above      Clobbers rcx rdx zmm12-zmm14 zmm24-zmm27 k4
; .half    of 16: of the first ones for edx 0, of the others for 16
; In       zmm0-zmm3, zmm8-zmm10, zmm11 zero
; Holds    rsi edx of .half   al 1 in .half   rcx column   rdx its sums
.half:
    push    rsi
    push    rax
    mov     esi, edx
    mov     al, 1
    jmp     .any
.columns:
    push    rsi
    push    rax
    xor     esi, esi
    xor     eax, eax
.any:
    mov     rcx, rbx
    mov     edx, r13d
    shl     edx, 6
    vptestmd k4, zmm10, zmm10
.column:
    vbroadcasti32x4 zmm12, [rcx + rsi + 8]
    vbroadcasti32x4 zmm13, [rcx + 24]
    vmovdqa64 zmm24, zmm30
    kortestw k4, k4
    jz      .exact
    vpdpbusd zmm24, zmm10, zmm12
    test    al, al
    jnz     .less
    vpdpbusd zmm24, zmm11, zmm13
.less:
    vpsubd  zmm24, zmm30, zmm24         ; less what they are too large by
.exact:
    MOVE    25, 24, 1
    MOVE    26, 24, 1
    MOVE    27, 24, 1
    vpdpbusd zmm24, zmm0, zmm12
    vpdpbusd zmm25, zmm1, zmm12
    vpdpbusd zmm26, zmm2, zmm12
    vpdpbusd zmm27, zmm3, zmm12
    test    al, al
    jnz     .sums
    vpdpbusd zmm24, zmm4, zmm13
    vpdpbusd zmm25, zmm5, zmm13
    vpdpbusd zmm26, zmm6, zmm13
    vpdpbusd zmm27, zmm7, zmm13
.sums:
    vpunpckldq zmm14, zmm24, zmm25      ; the 4 dwords of each row, one by one:
    vpunpckhdq zmm24, zmm24, zmm25
    vpaddd  zmm24, zmm24, zmm14
    vpunpckldq zmm14, zmm26, zmm27
    vpunpckhdq zmm26, zmm26, zmm27
    vpaddd  zmm26, zmm26, zmm14
    vpunpcklqdq zmm14, zmm24, zmm26
    vpunpckhqdq zmm24, zmm24, zmm26
    vpaddd  zmm24, zmm24, zmm14         ; their sum in the row's place
    vcvtdq2ps zmm24, zmm24
    vmulps  zmm12, zmm8, [rcx] {1to16}
    vfmadd213ps zmm24, zmm12, [r12 + rdx - 64]
    vfmadd231ps zmm24, zmm9, [rcx + 4] {1to16}
    vmovaps [r12 + rdx - 64], zmm24
    add     rcx, rdi
    sub     edx, 64
    jnz     .column
    pop     rax
    pop     rsi
    add     rbx, 40
    ret

; The first 4 bytes at rax of each row: as two f16, those of zmm8 and of zmm9.
; Clobbers rcx rdx zmm0-zmm5
.head:
    call    .load
    vpunpckldq zmm4, zmm0, zmm1
    vpunpckldq zmm5, zmm2, zmm3
    vpunpcklqdq zmm0, zmm4, zmm5
.f16:                                   ; of zmm0
    vpmovdw ymm8, zmm0
    vcvtph2ps zmm8, ymm8
    vpsrld  zmm9, zmm0, 16
    vpmovdw ymm9, zmm9
    vcvtph2ps zmm9, ymm9
    ret

; The first 16 bytes at rax of each row, a dword to each of zmm0-zmm3.  Clobbers rcx rdx zmm4 zmm5
.dwords:
    call    .load
    vpunpckldq zmm4, zmm0, zmm1
    vpunpckldq zmm5, zmm2, zmm3
    vpunpckhdq zmm0, zmm0, zmm1
    vpunpckhdq zmm2, zmm2, zmm3
    vpunpckhqdq zmm3, zmm0, zmm2
    vpunpcklqdq zmm2, zmm0, zmm2
    vpunpckhqdq zmm1, zmm4, zmm5
    vpunpcklqdq zmm0, zmm4, zmm5
    ret

; Byte ecx of 16 of each row, which lie as dwords from [r12 - 256] on, as f32 to zmm8.  Clobbers rdx
.scale:
    mov     edx, ecx
    and     edx, -4
    imul    edx, edx, 15
    add     edx, ecx
    vmovdqu32 zmm8, [r12 + rdx - 256 - 3]
    vpsrad  zmm8, zmm8, 24
    vcvtdq2ps zmm8, zmm8
    ret

; 16 bytes at rax of each row: of row 4 * g + j to lane g of zmm(j).  Clobbers rcx rdx
; Prefetches as many, where the groups are that come next.
.load:
    mov     rcx, [rbp + L_AHEAD]
    lea     rcx, [rcx + rax*4]
    prefetcht2 [r10 + rcx]
    prefetcht2 [r11 + rcx]
    prefetcht2 [r14 + rcx]
    prefetcht2 [r15 + rcx]
    lea     rdx, [r10 + rax]
    vmovdqu xmm0, [rdx]
    vmovdqu xmm1, [rdx + r8]
    vmovdqu xmm2, [rdx + r8*2]
    vmovdqu xmm3, [rdx + r9]
    lea     rdx, [r11 + rax]
    LANE    k1
    lea     rdx, [r14 + rax]
    LANE    k2
    lea     rdx, [r15 + rax]
    LANE    k3
    ret

; 16 bytes at rax of each row to zmm16-zmm19, and 16 bytes at rax + rdx to zmm20-zmm23.
; Clobbers rcx rdx zmm0-zmm3      Out  rax + rdx
.pair:
    push    rdx
    call    .load
    MOVE    16, 0, 4
    pop     rdx
    add     rax, rdx
    call    .load
    MOVE    20, 0, 4
    ret

; 32 times 4 bits: 16 bytes at rax of each row, the lower halves first.  Clobbers rcx rdx zmm13
.nibbles:
    call    .load
.split:                                 ; the same, of zmm0-zmm3
    vpsrlw  zmm4, zmm0, 4
    vpsrlw  zmm5, zmm1, 4
    vpsrlw  zmm6, zmm2, 4
    vpsrlw  zmm7, zmm3, 4
    vmovdqa64 zmm13, zmm31
.mask:                                  ; zmm0-zmm7 by zmm13
    EIGHT   vpandd, zmm13
    ret
