package render

import "github.com/plaza-social/plaza/api/v1alpha1"

// The keys of the Secrets with the credentials of push notifications.
const (
	FCMKey     = "service-account.json"
	APNsKey    = "apns.p8"
	WebPushKey = "vapid-private-key"
)

// apnsSandboxURL is the address of APNs for development builds of an app.
const apnsSandboxURL = "https://api.sandbox.push.apple.com"

// pushVariables returns the variables of the providers of push notifications.
func pushVariables(p *v1alpha1.Push) environment {
	var out environment
	if p == nil {
		return out
	}
	if p.FCM != nil {
		out.secret("PLAZA_PUSH_FCM_CREDENTIALS", p.FCM.CredentialsSecretRef, FCMKey)
	}
	if a := p.APNs; a != nil {
		out.secret("PLAZA_PUSH_APNS_KEY", a.KeySecretRef, APNsKey)
		out.set("PLAZA_PUSH_APNS_KEY_ID", a.KeyID)
		out.set("PLAZA_PUSH_APNS_TEAM_ID", a.TeamID)
		out.set("PLAZA_PUSH_APNS_TOPIC", a.Topic)
		if a.Sandbox {
			out.set("PLAZA_PUSH_APNS_URL", apnsSandboxURL)
		}
	}
	if w := p.Web; w != nil {
		out.secret("PLAZA_PUSH_WEB_KEY", w.KeySecretRef, WebPushKey)
		out.set("PLAZA_PUSH_WEB_SUBJECT", w.Subject)
	}
	return out
}
