package lua

// An opcode is what an instruction does. R[x] is a register, K[x] a constant; RK(x) is R[x]
// below 256, else K[x-256].
type opcode uint8

const (
	opMove       opcode = iota // R[a] = R[b]
	opConst                    // R[a] = K[c]
	opBool                     // R[a] = b != 0; if c != 0, skip an instruction
	opNil                      // R[a], ..., R[b] = nil
	opUpvalue                  // R[a] = upvalue b
	opSetUpvalue               // upvalue b = R[a]
	opGlobal                   // R[a] = global K[c]
	opSetGlobal                // global K[c] = R[a]
	opIndex                    // R[a] = R[b][RK(c)]
	opField                    // R[a] = R[b][K[c]], a string
	opSetIndex                 // R[a][RK(b)] = RK(c)
	opTable                    // R[a] = {} with room for elements and keys: hints b and c
	opSetList                  // R[a][c+i] = R[a+i], 1 <= i <= b; up to the top if b == 0
	opSelf                     // R[a+1] = R[b]; R[a] = R[b][K[c]]
	opAdd                      // R[a] = RK(b) + RK(c)
	opSub
	opMul
	opDiv
	opMod
	opPow
	opMinus  // R[a] = -R[b]
	opNot    // R[a] = not R[b]
	opLen    // R[a] = #R[b]
	opConcat // R[a] = R[b] .. ... .. R[c]
	opJump   // pc += c
	opEqual  // if (RK(b) == RK(c)) != (a != 0), skip the jump that follows
	opLess
	opLessEqual
	opTest     // if truth of R[b] != (a != 0), skip the jump that follows
	opTestMove // as opTest; if the jump is taken, R[c] = R[b]
	opCall     // R[a], ... = R[a](R[a+1], ..., R[a+b-1]); b == 0: up to the top; c-1 results; c == 0: all
	opTailCall // return R[a](...), as opCall
	opReturn   // return R[a], ..., R[a+b-2]; b == 0: up to the top
	opForLoop  // R[a] += R[a+2]; if it is within R[a+1]: R[a+3] = R[a], pc += c
	opForPrep  // R[a] -= R[a+2]; pc += c
	opForEach  // R[a+3], ..., R[a+2+b] = R[a](R[a+1], R[a+2]); if R[a+3] == nil skip the jump, else R[a+2] = R[a+3]
	opClose    // close upvalues of R[a] and above
	opClosure  // R[a] = closure of proto c
	opVarargs  // R[a], ... = ...; b-1 of them; b == 0: all
)

// An instr is an instruction.
type instr struct {
	op opcode
	a  uint8
	b  uint16
	c  int32
}

const constants = 256 // RK: from here on, constants

// A Proto is the code of a function. It never changes, so that states can share it.
type Proto struct {
	code      []instr
	lines     []int32
	consts    []Value
	protos    []*Proto
	upvalues  []capture
	names     []operandName // by pc
	chunk     string        // what errors call the chunk
	source    string        // as the host named it
	line      int           // where the function begins; 0 for a chunk
	params    int
	registers int
	vararg    bool
	needsArg  bool // has the table arg of LUA_COMPAT_VARARG
	counted   bool // against the memory of a state
	mark      uint8
}

// A capture says where a closure finds an upvalue: in a register of the function that makes
// it, or among that function's own upvalues.
type capture struct {
	local bool
	index int
}

// bytes returns about how much memory the function takes, without those within it.
func (p *Proto) bytes() int {
	n := 256 + 12*len(p.code) + valueBytes*len(p.consts) + 40*len(p.names)
	for _, k := range p.consts {
		if k.IsString() {
			n += stringBytes + len(k.Text())
		}
	}
	return n
}

// Bytes returns about how much memory a chunk takes.
func (p *Proto) Bytes() int {
	n := p.bytes()
	for _, sub := range p.protos {
		n += sub.Bytes()
	}
	return n
}
