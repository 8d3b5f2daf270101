package textfilter

import (
	"fmt"
	"sync"

	"github.com/plaza-social/plaza/platform/region"
)

// Rules are the compiled rules of both lists at one version.
type Rules struct {
	Version string
	Allow   AllowList
	Block   BlockList
}

// Add compiles a rule and adds it to its list.
func (r *Rules) Add(list, expression string, wholeWord bool) error {
	switch list {
	case Allow:
		rule, err := CompileAllow(expression)
		if err != nil {
			return err
		}
		r.Allow.Add(rule)
	case Block:
		rule, err := CompileBlock(expression, wholeWord)
		if err != nil {
			return err
		}
		r.Block.Add(rule)
	default:
		return fmt.Errorf("unknown moderation list %q", list)
	}
	return nil
}

// Cache keeps the rules that each home was last seen to have, because lists change rarely and every text is checked against them.
// The zero value is empty and ready to use. It holds at most one set of rules for each home.
type Cache struct{ byHome sync.Map }

// Get returns the rules of home at version, or nil if the cache does not hold that version.
func (c *Cache) Get(home region.Code, version string) *Rules {
	known, _ := c.byHome.Load(home)
	if rules, ok := known.(*Rules); ok && rules.Version == version {
		return rules
	}
	return nil
}

// Put keeps rules as those of home.
func (c *Cache) Put(home region.Code, rules *Rules) { c.byHome.Store(home, rules) }
