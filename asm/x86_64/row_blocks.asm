; row_blocks - the frame of the row_* of quantised weights.  x86-64, AVX2 or AVX-512: see vector.inc.
; They jump here with the tile of their matmul_*: the weights of a part are its products with 32 unit
; vectors.  So one place alone knows the bits of a type.  Contract asm/kernels.h
; In       rdi y: f32[n]   rdx row   ecx n   xmm0 scale   eax tile, see matmul_blocks.asm
; Clobbers as matmul_blocks.asm
; Holds    see matmul_blocks.asm   rbx y, from part to part   [rbp + L_ROW] unit vectors
;          [rbp + L_M] scale
%include "blocks.inc"

extern matmul_blocks.constants, matmul_blocks.done
global row_blocks
section .text align=1
row_blocks:
    push    rbx
    push    rbp
    push    r12
    push    r13
%if GROUPS > 2
    push    r14
    push    r15
    mov     r14, rdx                    ; all rows are the same
    mov     r15, rdx
%endif
    mov     r10, rdx
    mov     r11, rdx
    mov     rbp, rsp
    lea     r12, [rbp + L_LAST - SUMS - 32 * VBYTES]
    and     r12, -64
    lea     rsp, [r12 - SCRATCH - 32 * Q_BYTES]
    mov     [rbp + L_TILE], rax
    vmovss  [rbp + L_M], xmm0
    mov     qword [rbp + L_PART], .part
    mov     [rbp + L_ROW], rsp
    mov     rbx, rdi
    mov     eax, ecx
    lea     rax, [rdi + rax*4]
    mov     [rbp + L_END], rax
    mov     rdi, rsp
    mov     ecx, 32 * Q_BYTES / 4
    xor     eax, eax
    rep stosd
    lea     rdi, [rsp + 32 * Q_BYTES]
    push    31
    pop     rcx
.unit:
    sub     rdi, Q_BYTES
    mov     edx, 0x3f800000             ; 1.0
    mov     [rdi], edx
    mov     [rdi + Q_SUM], edx
    mov     edx, ecx
    shr     edx, 4
    inc     byte [rdi + rdx*2 + Q_HALVES]
    inc     byte [rdi + rcx + Q_Q]
    dec     ecx
    jns     .unit
    push    Q_BYTES
    pop     rdi
    mov     r13d, 32 * VBYTES
    xor     r8d, r8d
    xor     r9d, r9d
    mov     [rbp + L_AHEAD], r8
    mov     rax, [rbp + L_TILE]
    call    matmul_blocks.constants
    xor     eax, eax
.block:
    mov     rcx, [rbp + L_TILE]
    add     rcx, 8
    call    rcx
    cmp     rbx, [rbp + L_END]
    jb      .block
    jmp     matmul_blocks.done

.part:
    mov     ecx, r13d
    vpxor   v10, v10, v10
.zero:
    vmovaps [r12 + rcx + SUMS - VBYTES], v10
    sub     ecx, VBYTES
    jnz     .zero
    push    rbx
    push    rax
    mov     rbx, [rbp + L_ROW]
    mov     rax, [rbp + L_TILE]
    mov     ecx, [rax]
    call    rcx
    pop     rax
    pop     rbx
    mov     ecx, r13d
.weight:
    vmovss  xmm0, [r12 + rcx + SUMS - VBYTES]
    vmulss  xmm0, xmm0, [rbp + L_M]
    vmovss  [rbx], xmm0
    add     rbx, 4
    sub     ecx, VBYTES
    jnz     .weight
    ret
