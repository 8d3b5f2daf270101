package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// blockedPair are anna, who blocks ben, and others who are told about what both do.
type blockedPair struct {
	anna, ben, third, boss *apptest.Client
}

func newBlockedPair(t *testing.T) blockedPair {
	t.Helper()
	p := blockedPair{
		newUser(t, region.EU, "anna"), newUser(t, region.US, "ben"), newUser(t, region.SG, "third"),
		newUser(t, region.SG, "boss"),
	}
	rename(t, map[string]*apptest.Client{"Anna": p.anna, "Ben": p.ben, "Theo": p.third, "Bo": p.boss})
	block(t, p.anna, p.ben)
	return p
}

// TestBlocksInTheTray has the two users do in a shared community what the tray tells moderators and members about.
func TestBlocksInTheTray(t *testing.T) {
	t.Parallel()
	p := newBlockedPair(t)
	club := newApprovalCommunity(t, p.boss, object{"userIds": userIDs(p.anna)})
	promote(t, p.boss, club, p.anna)
	ask(t, p.ben, club)
	requireTray(t, p.boss, trayItem{"", "join_request", club, "Ben requested to join your community", 1})
	ask(t, p.third, club)
	requireTray(t, p.boss, trayItem{"", "join_request", club, "Theo and Ben requested to join your community", 2})
	requireTray(t, p.anna, trayItem{"", "join_request", club, "Theo requested to join your community", 1})

	decide(t, p.anna, club, "approve", p.ben.UserID)
	decide(t, p.anna, club, "approve", p.third.UserID)
	requireTray(t, p.third, trayItem{"respond_on_join_request", "join_request", club, "Anna approved your request to join a community", 1})
	post := newPost(t, p.boss, club, mentioning(p.ben, p.third))
	requireTray(t, p.ben, trayItem{"mention_in_post", "mention", post, "Bo mentioned you in a post", 1})
}

// TestBlocksInPushes has the two users write in a shared community and in a shared channel. What the others write shows that what was
// written before was delivered.
func TestBlocksInPushes(t *testing.T) {
	t.Parallel()
	p := newBlockedPair(t)
	club := newCommunity(t, p.boss, object{"displayName": "Club", "userIds": userIDs(p.anna, p.ben, p.third)})
	c := newChat(t, p.boss, p.anna, p.ben, p.third)
	register(t, p.anna, p.ben, p.third)
	var toThird []string
	say := func(by *apptest.Client, name string) {
		t.Helper()
		c.newMessage(t, by, "hello")
		newPost(t, by, club, object{"data": object{"text": "hello"}})
		toThird = append(toThird, "chat | "+name+": hello", "Club | "+name+": hello")
		requirePushes(t, region.SG, p.third, toThird...)
	}
	say(p.anna, "Anna")
	say(p.ben, "Ben")
	say(p.boss, "Bo")
	requirePushes(t, region.EU, p.anna, "chat | Bo: hello", "Club | Bo: hello")
	requirePushes(t, region.US, p.ben, "chat | Bo: hello", "Club | Bo: hello")
}

// TestPushesOfSubchannels checks that the setting of a channel applies to all of its subchannels.
func TestPushesOfSubchannels(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us})
	c := newChat(t, us, eu, sg)
	feeds := []string{c.id, c.subchannel(t, us, "second")}
	register(t, eu, sg)
	var toSam []string
	say := func(text string) {
		t.Helper()
		for _, feed := range feeds {
			us.Do(t, http.MethodPost, messagesPath, object{"messageFeedId": feed, "dataType": "text", "data": object{"text": text}}).OK(t)
			toSam = append(toSam, "chat | Uma: "+text)
		}
		requirePushes(t, region.SG, sg, toSam...)
	}
	set := func(on bool) {
		t.Helper()
		eu.Do(t, http.MethodPost, settingPath, object{"level": "channel", "channelId": c.id, "isPushNotifiable": on}).OK(t)
	}
	say("first")
	set(false)
	say("not told")
	set(true)
	say("last")
	requirePushes(t, region.EU, eu, "chat | Uma: first", "chat | Uma: first", "chat | Uma: last", "chat | Uma: last")
}
