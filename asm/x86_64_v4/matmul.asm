; matmul - the frame of matmul_f32, matmul_f16, matmul_bf16, and its tiles: four rows by COLUMNS
; columns, or by one.  x86-64, AVX-512 F.
; Called by the matmul_* stubs, whose loader stands behind the call.  Returns to their caller.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx end   the return address: the loader
; Clobbers rax rcx rdx rsi r8-r11 zmm0-zmm15 zmm24-zmm31 k1
; Holds    rdx y   rbx, rax x columns 0 and 3   rbp from column to column   r12 loader
;          r13d columns left   r8 row stride   r9 3 * row stride   r10 w   r11 what to prefetch
;          zmm0-zmm15 sums of 16: four rows of column 0, of column 1, ...
; Why so: n 2048, one thread, Zen 4, in the cache, GFLOP/s of F16 where the peak is 118:
;   4 columns   115   64 columns of 8: no rest
;   6 columns   105   the rest of 64 one by one
;   2 columns    86   the tile of x86_64, AVX2
;
; A loader: 16 weights, or the 8 that are left, of each of four rows, from r10, to zmm24-zmm27 as
; f32; and prefetches as many bytes from r11 on, where the rows are that come next.
; In       r8-r11, k1 the weights that there are     Clobbers nothing else
; Columns that are left over are computed one by one.  Rows that are no multiple of 4 end in a tile
; that reaches back over rows that are already done.
%include "matmul.inc"

COLUMNS equ 4

; FMAS column, address - four rows by a column, 16 of each.
%macro FMAS 2
%assign x 28 + %1
    vmovups zmm %+ x {k1}{z}, %2
%assign r 0
%rep 4
%assign s %1 * 4 + r
%assign w 24 + r
    vfmadd231ps zmm %+ s, zmm %+ w, zmm %+ x
%assign r r + 1
%endrep
%endmacro

global matmul
section .text align=1
matmul:
    pop     rax
    push    rbx
    push    rbp
    push    r12
    push    r13
    mov     r12, rax
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
    cmp     esi, edx
    jae     .done
    sub     edx, 4                      ; the last tile's first row
.rows:
    push    rdx
    cmp     esi, edx
    cmovg   esi, edx                    ; no row past the end
    mov     rbx, [rdi + M_X]
    mov     rdx, [rdi + M_Y]
    lea     rdx, [rdx + rsi*4]
    mov     r13d, [rdi + M_COLS]
.columns:
    mov     ecx, [rdi + M_N]
    mov     ebp, ecx
    shl     rbp, 2
    lea     rax, [rbp + rbp*2]
    add     rax, rbx
    mov     r10, r8
    imul    r10, rsi
    add     r10, [rdi + M_W]
    lea     r11, [r10 + r8*4]
    vzeroall                            ; zmm0-zmm15
    kxnorw  k1, k1, k1
    push    rbx
.step:
    sub     ecx, 16
    jns     .whole
    kshiftrw k1, k1, 8                  ; the last 8
.whole:
    call    r12
    FMAS    0, [rbx]
    cmp     r13d, COLUMNS
    jb      .one
    FMAS    1, [rbx + rbp]
    FMAS    2, [rbx + rbp*2]
    FMAS    3, [rax]
    add     rax, 64
.one:
    add     rbx, 64
    test    ecx, ecx
    jg      .step
    pop     rbx
    push    1
    pop     rcx
    cmp     r13d, COLUMNS
    jb      .sums
    mov     cl, COLUMNS
.sums:
    sub     r13d, ecx
.column:
    vunpcklps zmm24, zmm0, zmm1         ; the sums of four rows, side by side
    vunpckhps zmm25, zmm0, zmm1
    vaddps  zmm24, zmm24, zmm25
    vunpcklps zmm25, zmm2, zmm3
    vunpckhps zmm26, zmm2, zmm3
    vaddps  zmm25, zmm25, zmm26
    vunpcklpd zmm26, zmm24, zmm25
    vunpckhpd zmm27, zmm24, zmm25
    vaddps  zmm24, zmm26, zmm27
    vextractf64x4 ymm25, zmm24, 1
    vaddps  zmm0, zmm24, zmm25
    vextractf128 xmm1, ymm0, 1
    vaddps  xmm0, xmm0, xmm1
    vmovups [rdx], xmm0
    mov     eax, [rdi + M_Y_STRIDE]
    lea     rdx, [rdx + rax*4]
    add     rbx, rbp
%assign i 0
%rep COLUMNS * 4 - 4
%assign j i + 4
    vmovaps zmm %+ i, zmm %+ j
%assign i i + 1
%endrep
    dec     ecx
    jnz     .column
    test    r13d, r13d
    jnz     .columns
    pop     rdx
    cmp     esi, edx
    lea     esi, [rsi + 4]
    jb      .rows
.done:
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret
