package db

type ownTrace struct{}

// OwnTrace is the argument that Commit replaces by the trace of the transaction, as span.Of returns it, so that work which the
// transaction leaves to others continues the trace.
var OwnTrace any = ownTrace{}

// setTrace replaces the arguments of steps that are OwnTrace.
func setTrace(steps []Step, trace string) {
	for _, s := range steps {
		for i := range s.args {
			if s.args[i] == OwnTrace {
				s.args[i] = trace
			}
		}
	}
}
