; dots - a part of quantised weights, 16 rows by 32, times the activations of all columns.
; x86-64, AVX-512 F + BW + VNNI.
; A tile jumps here, by way of [rbp + L_PART].  Read first: x86_64/matmul_blocks.asm,
; x86_64/dots.asm.
; In       v0-v7 weights, unsigned: 4 of each row in its dword   v8 scales   v9 minima
;          [r12 + OFFSETS] words: what is added for each weight, 16 weights and 16
;          rbx x, column 0   rdi from column to column   [r12 + SUMS] sums   r13d their bytes
; Out      rbx the next 32 activations      Clobbers rcx rdx zmm10-zmm12 zmm16 zmm17
; .scaled  the products of 16 weights and 16, with what is added, are multiplied with zmm14 and zmm15,
;          dwords
%include "blocks.inc"

; SUM - the products in zmm12 to the column's sum, and on to the next column.
%macro SUM 0
    vcvtdq2ps zmm12, zmm12
    vmulps  zmm10, zmm8, [rcx] {1to16}
    vfmadd213ps zmm12, zmm10, [r12 + rdx + SUMS - VBYTES]
    vfmadd231ps zmm12, zmm9, [rcx + Q_SUM] {1to16}
    vmovaps [r12 + rdx + SUMS - VBYTES], zmm12
    add     rcx, rdi
    sub     edx, VBYTES
%endmacro

; PRODUCTS reg, reg - of 16 weights and 16, to two sums: one would wait for itself, at 0.92 of the
; speed.
%macro PRODUCTS 2
%assign i 0
%rep 4
%assign j i + 4
    vpdpbusd %1, zmm%[i], [rcx + Q_Q + 4 * i] {1to16}
    vpdpbusd %2, zmm%[j], [rcx + Q_Q + 4 * j] {1to16}
%assign i i + 1
%endrep
%endmacro

global dots, dots.scaled
section .text align=1
dots:
    mov     rcx, rbx
    mov     edx, r13d
.column:
    vpbroadcastd zmm12, [rcx + Q_HALVES]
    vpmaddwd zmm12, zmm12, [r12 + OFFSETS]
    vpxord  zmm11, zmm11, zmm11
    PRODUCTS zmm12, zmm11
    vpaddd  zmm12, zmm12, zmm11
    SUM
    jnz     .column
    add     rbx, Q_BYTES
    ret

.scaled:
    vmovdqa64 zmm10, [r12 + OFFSETS]
    vpsrld  zmm16, zmm10, 16            ; of the first 16 alone
    vpslld  zmm17, zmm10, 16            ; of the others
    mov     rcx, rbx
    mov     edx, r13d
.other:
    vpbroadcastd zmm12, [rcx + Q_HALVES]
    vpmaddwd zmm10, zmm12, zmm16
    vpmaddwd zmm11, zmm12, zmm17
    PRODUCTS zmm10, zmm11
    vpmulld zmm10, zmm10, zmm14
    vpmulld zmm11, zmm11, zmm15
    vpaddd  zmm12, zmm10, zmm11
    SUM
    jnz     .other
    add     rbx, Q_BYTES
    ret
