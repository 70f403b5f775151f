; matmul_blocks - the frame of the matmul_* of quantised weights: 16 rows at a time, in 4 groups of 4.
; Each of them calls it, and its tile follows the call.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   [rsp] tile, and behind it where to return to
; Clobbers rax rcx rdx rsi rdi r8-r11 all zmm k1-k4
;
; A tile: a block of 16 rows.  For each 32 weights in it puts integers into zmm0-zmm7, the scales of
; the rows into zmm8, their minima into zmm9, and calls [rbp + L_PART]: .columns, or the like in
; row_blocks.  Where a scale is of 16 weights, zmm0-zmm3, it calls [rbp + L_HALF].
; In       rax offset of the block in a row, which it moves to the next   what is held, see below
; Clobbers rcx rdx rsi zmm0-zmm27 k4; and SCRATCH bytes below r12 are its own
; Holds    rbx column 0, its 32 activations   rdi from column to column   r13d columns
;          r12 sums of the columns, 64 bytes each, the last column first   rbp locals, see below
;          r8 row stride   r9 3 * row stride   r10 r11 r14 r15 the groups
;          k1-k3 lanes 1-3   zmm28 bytes of 1   zmm29 bytes of 16   zmm30 zero   zmm31 bytes of 15
; Integers: of row 4 * g + j the first 16 in lane g of zmm(j), the others in lane g of zmm(4 + j); a
; byte each, unsigned, and too large by the bytes in zmm10 and zmm11.  What belongs to a row and is
; a dword: row r in place r.
;
; The weights stay as they lie in memory, 4 rows in a register: VNNI makes 4 sums of each row, and 6
; shuffles a sum of each, for 16 rows in one register, with which scales and sums go on.
%include "matmul.inc"
%include "blocks.inc"

COLUMNS    equ 32                       ; at most; the stack has 64 bytes for each

global matmul_blocks, matmul_blocks.constants, matmul_blocks.head, matmul_blocks.load
global matmul_blocks.dwords, matmul_blocks.f16, matmul_blocks.scale, matmul_blocks.nibbles
global matmul_blocks.mask, matmul_blocks.pair
section .text align=1
matmul_blocks:
    pop     rax
    push    rbx
    push    rbp
    push    r12
    push    r13
    push    r14
    push    r15
    mov     rbp, rsp
    mov     edx, edx
    push    rax
    push    rdi
    push    rdx
    push    rsi
    push    .columns
    push    .half
    lea     r12, [rbp + L_LAST - COLUMNS * 64]
    and     r12, -64
    lea     rsp, [r12 - SCRATCH]
    call    .constants
.rows:
    mov     rdi, [rbp + L_M]
    mov     esi, [rbp + L_ROW]
    mov     edx, [rdi + M_ROWS]
    cmp     esi, edx
    jae     .done
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
    sub     edx, 4
    mov     ebx, esi
    xor     ecx, ecx
.group:
    cmp     ebx, [rdi + M_ROWS]
    mov     eax, ebx
    cmovae  eax, esi                    ; no such rows: the first ones once more
    cmp     eax, edx
    cmova   eax, edx                    ; no row past the end
    mov     r10, [rdi + M_Y]
    lea     r10, [r10 + rax*4]
    mov     [rbp + L_GROUPS_Y + rcx*8], r10
    imul    rax, r8
    add     rax, [rdi + M_W]
    push    rax
    add     ebx, [rbp + L_STEP]
    inc     ecx
    cmp     ecx, 4
    jb      .group
    mov     [rbp + L_ROW], ebx
    pop     r15
    pop     r14
    pop     r11
    pop     r10
    mov     rax, r8
    imul    rax, [rbp + L_STEP]
    shl     rax, 2
    mov     [rbp + L_AHEAD], rax
    mov     rbx, [rdi + M_X]
    mov     eax, [rdi + M_COLS]
    mov     [rbp + L_LEFT], eax
    and     qword [rbp + L_Y], 0
.pass:
    push    COLUMNS
    pop     r13
    mov     eax, [rbp + L_LEFT]
    cmp     eax, r13d
    cmovb   r13d, eax
    sub     [rbp + L_LEFT], r13d
    mov     [rbp + L_X], rbx
    mov     edi, [rdi + M_N]
    mov     eax, edi
    shr     eax, 2
    add     eax, edi                    ; 40 bytes for 32
    add     rax, rbx
    mov     [rbp + L_END], rax
    shl     rdi, 2
    mov     edx, r13d
    shl     edx, 6
.zero:
    vmovaps [r12 + rdx - 64], zmm30
    sub     edx, 64
    jnz     .zero
    xor     eax, eax
.block:
    call    [rbp + L_TILE]
    cmp     rbx, [rbp + L_END]
    jb      .block
    mov     rbx, rdi
    imul    rbx, r13
    add     rbx, [rbp + L_X]
    mov     rdi, [rbp + L_M]
    mov     esi, [rdi + M_Y_STRIDE]
    mov     rcx, [rbp + L_Y]
    mov     edx, r13d
    shl     edx, 6
.store:
    vmovaps zmm0, [r12 + rdx - 64]
%assign g 0
%rep 4
    mov     rax, [rbp + L_GROUPS_Y + g * 8]
    vextractf32x4 [rax + rcx*4], zmm0, g
%assign g g + 1
%endrep
    add     rcx, rsi
    sub     edx, 64
    jnz     .store
    mov     [rbp + L_Y], rcx
    cmp     edx, [rbp + L_LEFT]
    jne     .pass
    jmp     .rows
.done:
    mov     rsp, rbp
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret

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

; k1-k3 zmm28-zmm31, see above.  Clobbers rcx
.constants:
    mov     ecx, 0x00f0
    kmovw   k1, ecx
    kshiftlw k2, k1, 4
    kshiftlw k3, k1, 8
    vpxord  zmm30, zmm30, zmm30
    vpternlogd zmm28, zmm28, zmm28, 0xff
    vpabsb  zmm28, zmm28
    vpsllw  zmm29, zmm28, 4
    vpsubb  zmm31, zmm29, zmm28
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
    vpsrlw  zmm4, zmm0, 4
    vpsrlw  zmm5, zmm1, 4
    vpsrlw  zmm6, zmm2, 4
    vpsrlw  zmm7, zmm3, 4
    vmovdqa64 zmm13, zmm31
.mask:                                  ; zmm0-zmm7 by zmm13
    EIGHT   vpandd, zmm13
    ret
