package render

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// The keys of the Secrets with the credentials of push notifications.
const (
	FCMKey     = "service-account.json"
	APNsKey    = "apns.p8"
	WebPushKey = "vapid-private-key"
)

// apnsSandboxURL is the address of APNs for development builds of an app.
const apnsSandboxURL = "https://api.sandbox.push.apple.com"

// pushVariables returns the variables of the providers of push notifications.
func pushVariables(p *v1alpha1.Push) []corev1.EnvVar {
	if p == nil {
		return nil
	}
	var out []corev1.EnvVar
	if p.FCM != nil {
		out = append(out, secretVariable("PLAZA_PUSH_FCM_CREDENTIALS", p.FCM.CredentialsSecretRef, FCMKey))
	}
	if a := p.APNs; a != nil {
		out = append(out, secretVariable("PLAZA_PUSH_APNS_KEY", a.KeySecretRef, APNsKey),
			corev1.EnvVar{Name: "PLAZA_PUSH_APNS_KEY_ID", Value: a.KeyID}, corev1.EnvVar{Name: "PLAZA_PUSH_APNS_TEAM_ID", Value: a.TeamID},
			corev1.EnvVar{Name: "PLAZA_PUSH_APNS_TOPIC", Value: a.Topic})
		if a.Sandbox {
			out = append(out, corev1.EnvVar{Name: "PLAZA_PUSH_APNS_URL", Value: apnsSandboxURL})
		}
	}
	if w := p.Web; w != nil {
		out = append(out, secretVariable("PLAZA_PUSH_WEB_KEY", w.KeySecretRef, WebPushKey), corev1.EnvVar{Name: "PLAZA_PUSH_WEB_SUBJECT", Value: w.Subject})
	}
	return out
}

// secretVariable returns a variable with the value of a key of a Secret.
func secretVariable(name string, ref v1alpha1.LocalSecretReference, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: key,
	}}}
}
