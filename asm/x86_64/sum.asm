; sum - of the eight lanes of a register.  x86-64, AVX.  Called by softmax and rmsnorm.
; In       ymm4      Out  ymm4 the sum, in all lanes
; Clobbers ymm3
global sum
section .text align=1
sum:
    vperm2f128 ymm3, ymm4, ymm4, 1
    vaddps  ymm4, ymm4, ymm3
    vhaddps ymm4, ymm4, ymm4
    vhaddps ymm4, ymm4, ymm4
    ret
