// Package hostile attacks networks on the loopback interface, and measures what the attacks cost. Its tests have the build tag attacks.
//
// Each attack has a limit, and a control: the same attack on a network without one of its defences, where it must cost more than
// the limit. Otherwise the attack is harmless and proves nothing. Costs are allocated bytes, round trips, rows and accepted requests;
// latencies are not measured.
package hostile
