; matmul_blocks - the frame of the matmul_* of quantised weights: 8 rows at a time, in 2 groups of 4;
; with AVX-512 16 in 4.  Each of them calls it, and its tile follows the call.
; x86-64, AVX2 + FMA + F16C or AVX-512 F + BW + VNNI: see vector.inc.
; Contract asm/kernels.h
; In       rdi m: Matmul*   esi begin   edx end   [rsp] tile, and behind it where to return to
; Clobbers rax rcx rdx rsi rdi r8-r11 all vectors
;
; A tile: PRODUCTS_BY says which one of dots.asm takes its weights; the code behind takes a block of
; these rows apart.  For each 32 weights in it puts integers into v0-v7, the scales of the rows into
; v8, their minima into v9, and goes to [rbp + L_PART]: that one; row_blocks.asm puts another there.
; In       rax offset of the block in a row, which it moves to the next   what is held, see below
; Clobbers rcx rdx rsi v0-v12; v14, v15 and OFFSETS if all its parts set them; from [r12 + PARTS] to
;          [r12 + SUMS] all but OFFSETS is its own
; Holds    rbx column 0, its 32 activations   rdi from column to column   r13d bytes of the sums
;          r12 sums of the columns, a vector each, the last column first   rbp locals, see blocks.inc
;          r8 row stride   r9 3 * row stride   r10, r11, with AVX-512 r14, r15 the groups
;          v13 bytes of 15   v14, v15 words of 1
;
; A row is a dword of a vector: 4 of its weights, later a sum.  Rows are transposed once for all
; columns, and what is done for a row, its scales above all, is done for all rows at once.
%include "matmul.inc"
%include "blocks.inc"

COLUMNS    equ 64                       ; at most

global matmul_blocks, matmul_blocks.constants, matmul_blocks.done
section .text align=1
matmul_blocks:
    pop     rax
    push    rbx
    push    rbp
    push    r12
    push    r13
%if GROUPS > 2
    push    r14
    push    r15
%endif
    mov     rbp, rsp
    push    rax
    push    rdi
    push    rdx
    push    rsi
    mov     ecx, [rax]
    push    rcx
    mov     r8, [rdi + M_W_STRIDE]
    lea     r9, [r8 + r8*2]
    imul    rcx, r8, 4 * GROUPS
    push    rcx
    lea     r12, [rbp + L_LAST - SUMS - COLUMNS * VBYTES]
    and     r12, -64
    lea     rsp, [r12 - SCRATCH]
    call    .constants
.rows:
    mov     ebx, [rbp + L_ROW]
    cmp     ebx, [rbp + L_END_ROW]
    jae     .done
    mov     rdi, [rbp + L_M]
    xor     ecx, ecx
.group:
    mov     eax, [rbp + L_END_ROW]
    sub     eax, 4
    cmp     ebx, eax
    cmovb   eax, ebx                    ; no row past the end: the last ones once more
    mov     rdx, [rdi + M_Y]
    lea     rdx, [rdx + rax*4]
    mov     [rbp + L_GROUPS_Y + rcx*8], rdx
    imul    rax, r8
    add     rax, [rdi + M_W]
    push    rax
    add     ebx, 4
    inc     ecx
    cmp     ecx, GROUPS
    jb      .group
    mov     [rbp + L_ROW], ebx
%if GROUPS > 2
    pop     r15
    pop     r14
%endif
    pop     r11
    pop     r10
    mov     rbx, [rdi + M_X]
    imul    r13d, [rdi + M_COLS], VBYTES
    mov     edi, [rdi + M_N]
    mov     eax, edi
    shr     eax, 5
    imul    eax, eax, Q_BYTES
    add     rax, rbx
    mov     [rbp + L_END], rax
    lea     rdi, [rdi*4 + 64]           ; 4 * (n + COLUMN_PAD)
    mov     ecx, r13d
    vpxor   v0, v0, v0
.zero:
    vmovaps [r12 + rcx + SUMS - VBYTES], v0
    sub     ecx, VBYTES
    jnz     .zero
    xor     eax, eax
.block:
    mov     rcx, [rbp + L_TILE]
    add     rcx, 8
    call    rcx
    cmp     rbx, [rbp + L_END]
    jb      .block
    mov     rdi, [rbp + L_M]
    xor     ecx, ecx
    mov     edx, [rdi + M_Y_STRIDE]
.store:
    vmovaps v0, [r12 + r13 + SUMS - VBYTES]
%assign g 0
%rep GROUPS
    mov     rax, [rbp + L_GROUPS_Y + g * 8]
    STORE_LANE [rax + rcx*4], v0, g
%assign g g + 1
%endrep
    add     rcx, rdx
    sub     r13d, VBYTES
    jnz     .store
    jmp     .rows
.done:                                  ; of row_blocks, too
    mov     rsp, rbp
%if GROUPS > 2
    pop     r15
    pop     r14
%endif
    pop     r13
    pop     r12
    pop     rbp
    pop     rbx
    ret

; For the tile rax: what v13-v15 hold, OFFSETS.
.constants:
    vpbroadcastd v0, [rax + 4]
    vmovaps [r12 + OFFSETS], v0
    ONES    v15
    vpabsb  v14, v15
    vpsllw  v13, v14, 4
    vpsubb  v13, v13, v14
    vpabsw  v14, v15
    vmovaps v15, v14
    vpxor   v9, v9, v9                  ; without minima nobody sets it again
    ret
