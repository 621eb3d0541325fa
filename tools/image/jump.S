/* ==== JUMP ==============================================================================================
** The context of the program: taken in the process that writes an image, resumed in the one that loads it.  setjmp and
** longjmp of saved objects: libc's own encrypt what they keep with a word of the process.  The stubs.
**
** Offers     img_context_take, img_context_resume, img_on_stack, img_setjmp, img_setjmp_mask, img_sigsetjmp,
**            img_longjmp, img_stub_mpi, img_stub_late.
** ====================================================================================================== */
/* The caller's registers, stack and return address, in eight words at %rdi; and back to there, with the result %eax. */
	.macro save_caller
	movq %rbx, 0(%rdi)
	movq %rbp, 8(%rdi)
	movq %r12, 16(%rdi)
	movq %r13, 24(%rdi)
	movq %r14, 32(%rdi)
	movq %r15, 40(%rdi)
	leaq 8(%rsp), %rax
	movq %rax, 48(%rdi)
	movq (%rsp), %rax
	movq %rax, 56(%rdi)
	.endm
	.macro go_to_caller
	movq 0(%rdi), %rbx
	movq 8(%rdi), %rbp
	movq 16(%rdi), %r12
	movq 24(%rdi), %r13
	movq 32(%rdi), %r14
	movq 40(%rdi), %r15
	movq 48(%rdi), %rsp
	jmp *56(%rdi)
	.endm

	.text
	.globl img_context_take
	.type img_context_take, @function
img_context_take:
	save_caller
	stmxcsr 64(%rdi)
	fnstcw 68(%rdi)
	xorl %eax, %eax
	ret
	.size img_context_take, . - img_context_take

	.globl img_context_resume
	.type img_context_resume, @function
img_context_resume:
	movq %rsi, %fs:0x28
	fninit
	fldcw 68(%rdi)
	ldmxcsr 64(%rdi)
	cld
	movl $1, %eax
	go_to_caller
	.size img_context_resume, . - img_context_resume

/* The buffer at %rdi, as libc has it: eight words; whether the mask of signals was saved, at 64; the mask, at 72. */
	.globl img_setjmp, img_setjmp_mask, img_sigsetjmp
	.type img_setjmp, @function
	.type img_setjmp_mask, @function
	.type img_sigsetjmp, @function
img_setjmp:
	xorl %esi, %esi
	jmp img_sigsetjmp
img_setjmp_mask:
	movl $1, %esi
img_sigsetjmp:
	save_caller
	movl %esi, 64(%rdi)
	testl %esi, %esi
	jne img_jump_save /* returns 0 to the caller */
	xorl %eax, %eax
	ret
	.size img_sigsetjmp, . - img_sigsetjmp

	.globl img_longjmp
	.type img_longjmp, @function
img_longjmp: /* to the buffer at %rdi, where %esi is returned, or 1 */
	movq %rdi, %rbx
	movl %esi, %ebp
	andq $-16, %rsp
	movl 64(%rdi), %edx
	leaq 72(%rdi), %rsi
	movq 48(%rdi), %rdi
	call img_jump_leave
	movq %rbx, %rdi
	movl %ebp, %eax
	cmpl $1, %eax
	adcl $0, %eax
	go_to_caller
	.size img_longjmp, . - img_longjmp

	.globl img_on_stack
	.type img_on_stack, @function
img_on_stack: /* call %rdx(%rsi) on the stack that ends at %rdi; never returns */
	movq %rdi, %rsp
	xorl %ebp, %ebp
	movq %rsi, %rdi
	call *%rdx
	hlt
	.size img_on_stack, . - img_on_stack

	.globl img_stub_mpi, img_stub_late
	.type img_stub_mpi, @function
	.type img_stub_late, @function
img_stub_mpi: /* the function of MPI called %r10 does not work */
	movq %r10, %rdi
	jmp img_refuse_call
	.size img_stub_mpi, . - img_stub_mpi

img_stub_late: /* note the name %r10, and call %r11 with all arguments as they are */
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %rax
	pushq %r11
	subq $8, %rsp
	movq %r10, %rdi
	call img_note_call
	addq $8, %rsp
	popq %r11
	popq %rax
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	jmp *%r11
	.size img_stub_late, . - img_stub_late

	.section .note.GNU-stack, "", @progbits
