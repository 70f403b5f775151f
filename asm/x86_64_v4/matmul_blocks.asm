; matmul_blocks - the frame of the matmul_* of quantised weights: 16 rows at a time, in 4 groups of
; 4.  Each of them calls it, and its tile follows the call.  x86-64, AVX-512 F + BW + VNNI.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx step   [rsp] tile, and behind it where to return to
; Clobbers rax rcx rdx rsi rdi r8-r11 all zmm k1-k4
;
; A tile: a block of 16 rows.  For each 32 weights in it puts integers into zmm0-zmm7, the scales of
; the rows into zmm8, their minima into zmm9, and calls [rbp + L_PART]: blocks.columns, or the like
; in row_blocks.  Where a scale is of 16 weights, zmm0-zmm3, it calls [rbp + L_HALF].
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
; shuffles a sum of each, for 16 rows in one register, with which scales and sums go on.  So one
; order of sums serves one column and many.
; Why so: one thread, n 2048, in the cache, Zen 4: GFLOP/s of 64 columns; GB/s of one.
;             Q8_0        Q4_0        Q4_K        Q5_K        Q6_K
;   x86_64    56   30     61   18     48   13     42   15     45   19
;   here     206   36    210   22    263   26    243   18    139   21
; The 64 columns are done in passes of 32; of 8 columns Q4_0 has 178.
%include "matmul.inc"
%include "blocks.inc"

COLUMNS    equ 32                       ; at most; the stack has 64 bytes for each

extern blocks.columns, blocks.half
global matmul_blocks, matmul_blocks.constants
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
    push    blocks.columns
    push    blocks.half
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
