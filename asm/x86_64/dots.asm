; dots - a part of quantised weights, 8 rows by 32, times the activations of all columns.
; x86-64, AVX2 + FMA.
; A tile jumps here, by way of [rbp + L_PART].  Read first: matmul_blocks.asm.
; In       v0-v7 weights, unsigned, 0 to 63: 4 of each row in its dword   v8 scales   v9 minima
;          [r12 + OFFSETS] words: what is added for each weight, 16 weights and 16   v14, v15 words
;          that the products of 16 weights and 16 are multiplied with
;          rbx x, column 0   rdi from column to column   [r12 + SUMS] sums   r13d their bytes
; Out      rbx the next 32 activations      Clobbers rcx rdx rsi ymm10-ymm12
; .scaled  the same, for v14 and v15 that are not 1
; .signed  v0-v7 are what the weights at [r12 + PARTS] are without their signs; no offsets
; Why so: a sum of products needs no sum across a register, because a row is a dword of it.
%include "blocks.inc"

; SUM - the products in ymm12 to the column's sum, and on to the next column.
%macro SUM 0
    vcvtdq2ps ymm12, ymm12
    vbroadcastss ymm10, [rcx]
    vmulps  ymm10, ymm8, ymm10
    vbroadcastss ymm11, [rcx + Q_SUM]
    vfmadd213ps ymm12, ymm10, [r12 + rdx + SUMS - VBYTES]
    vfmadd231ps ymm12, ymm9, ymm11
    vmovaps [r12 + rdx + SUMS - VBYTES], ymm12
    add     rcx, rdi
    sub     edx, VBYTES
%endmacro

global dots, dots.scaled, dots.signed
section .text align=1
dots.scaled:
dots:
    mov     rcx, rbx
    mov     edx, r13d
.column:
    vpbroadcastd ymm12, [rcx + Q_HALVES]
    vpmaddwd ymm12, ymm12, [r12 + OFFSETS]
%assign i 0
%rep 4
%assign j 2 * i
%assign k 2 * i + 1
%assign s 14 + i / 2
    vpbroadcastd ymm10, [rcx + Q_Q + 4 * j]
    vpbroadcastd ymm11, [rcx + Q_Q + 4 * k]
    vpmaddubsw ymm10, ymm%[j], ymm10
    vpmaddubsw ymm11, ymm%[k], ymm11
    vpaddw  ymm10, ymm10, ymm11         ; 4 products of 63 * 127 fit
    vpmaddwd ymm10, ymm10, ymm%[s]
    vpaddd  ymm12, ymm12, ymm10
%assign i i + 1
%endrep
    SUM
    jnz     .column
    add     rbx, Q_BYTES
    ret
.signed:
    lea     rsi, [r12 + PARTS + 128]
    mov     rcx, rbx
    mov     edx, r13d
.other:
    vpxor   xmm12, xmm12, xmm12
%assign i 0
%rep 8
    vpbroadcastd ymm10, [rcx + Q_Q + 4 * i]
    vpsignb ymm10, ymm10, [rsi + i * VBYTES - 128]
    vpmaddubsw ymm10, ymm%[i], ymm10    ; 2 products of 128 * 127 fit
    vpmaddwd ymm10, ymm10, ymm14
    vpaddd  ymm12, ymm12, ymm10
%assign i i + 1
%endrep
    SUM
    jnz     .other
    add     rbx, Q_BYTES
    ret
