; row_blocks - the frame of the row_* of quantised weights.  x86-64, AVX2.
; They jump here with the tile of their matmul_*: a weight is the dot product of its block with a
; unit vector.  That is slow (40 us for 2048), and nothing to what a token takes; and one place
; alone knows the bits of a type.  Contract asm/kernels.h
; In       rdi y: f32[n]   rdx row   ecx n   xmm0 scale   eax tile, see matmul_blocks.asm
; Clobbers as matmul_blocks.asm
; Holds    [rsp] scale   [rsp + 8] tile   the vector from rsp + 16 to rbp, rdx its part of 32
;          rdi y   r10d n left   r8 block   r9d parts in a block   rsi weight in the part
extern matmul_blocks.dot
global row_blocks, row_blocks.k
section .text align=1
row_blocks.k:                           ; blocks of 256 weights
    push    8
    jmp     row_blocks.any
row_blocks:                             ; of 32
    push    1
.any:
    pop     r9
    push    rbx
    push    rbp
    push    r12
    xor     r12d, r12d                  ; one column alone
    mov     rbp, rsp
    mov     r10d, ecx
    mov     r8, rdx
    imul    ecx, r9d, 5
.zero:
    push    0
    loop    .zero
    vmovd   ecx, xmm0
    push    rax
    push    rcx
.block:
    lea     rdx, [rsp + 16]
.part:
    mov     eax, 0x3f800000             ; 1.0
    mov     [rdx], eax
    mov     [rdx + 4], eax
    push    31
    pop     rsi
.weight:
    inc     byte [rdx + rsi + 8]
    mov     rax, r8
    lea     rbx, [rsp + 16]
    mov     ecx, r9d
    call    matmul_blocks.dot
    dec     byte [rdx + rsi + 8]
    vmulss  xmm0, xmm0, [rsp]
    vmovss  [rdi + rsi*4], xmm0
    dec     esi
    jns     .weight
    and     dword [rdx + 4], 0
    add     rdx, 40
    sub     rdi, -128
    sub     r10d, 32
    cmp     rdx, rbp
    jb      .part
    mov     r8, rax
    test    r10d, r10d
    jnz     .block
    mov     rsp, rbp
    pop     r12
    pop     rbp
    pop     rbx
    ret
