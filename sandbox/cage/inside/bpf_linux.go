package inside

import "golang.org/x/sys/unix"

// program is a seccomp filter under construction. Its instructions only jump over the next one or a few, so no label is
// needed.
type program struct{ ops []unix.SockFilter }

func (p *program) op(code uint16, jt, jf uint8, k uint32) {
	p.ops = append(p.ops, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

// load takes 32 bits of seccomp_data at an offset.
func (p *program) load(offset uint32) { p.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }

// answer ends with a verdict.
func (p *program) answer(verdict uint32) { p.op(unix.BPF_RET|unix.BPF_K, 0, 0, verdict) }

// when ends with a verdict if what was loaded is v.
func (p *program) when(v, verdict uint32) {
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, v)
	p.answer(verdict)
}

// unless ends with a verdict if what was loaded is not v.
func (p *program) unless(v, verdict uint32) {
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, v)
	p.answer(verdict)
}

// ifAny ends with a verdict if what was loaded has any bit of mask.
func (p *program) ifAny(mask, verdict uint32) {
	p.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, mask)
	p.answer(verdict)
}

// allow ends with yes if what was loaded is one of the values.
func (p *program) allow(values ...uint32) {
	for _, v := range values {
		p.when(v, unix.SECCOMP_RET_ALLOW)
	}
}

// call judges the arguments of one system call; what body lets through is allowed. The number must be loaded.
func (p *program) call(nr uint32, body func(*program)) {
	var inner program
	body(&inner)
	inner.answer(unix.SECCOMP_RET_ALLOW)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, uint8(len(inner.ops)), nr)
	p.ops = append(p.ops, inner.ops...)
}
