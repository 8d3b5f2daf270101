package stage

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setCondition sets a condition as of this pass. The transition time changes with the status only.
func (p *Pass) setCondition(conditions *[]metav1.Condition, c metav1.Condition) {
	c.Message = Shorten(c.Message)
	c.ObservedGeneration = p.SN.Generation
	c.LastTransitionTime = metav1.NewTime(p.Now.Truncate(time.Second))
	if old := meta.FindStatusCondition(*conditions, c.Type); old != nil && old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	meta.SetStatusCondition(conditions, c)
}

// maxMessage is the length of a message in bytes at which it is cut off.
const maxMessage = 1000

// Shorten returns the message as one line of at most 1000 bytes.
func Shorten(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
	}
	return message
}

// JoinNames returns the names as in a sentence: eu, sg and us.
func JoinNames[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
