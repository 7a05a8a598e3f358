//! The keys that faults share, written into their structs: `scheduled` (when it is on), `bounded`
//! (from and to only) and `failing` (with which error).
//!
//! They are written in by a macro because serde can refuse unknown keys, and tell their line, only
//! in a struct that holds all of its keys itself; a flattened struct loses both.

/// Defines a fault's spec with the named groups of keys.
macro_rules! fault_spec {
    ($(#[$meta:meta])* pub struct $name:ident: $($group:ident)* { $($fields:tt)* }) => {
        fault_spec! { @ [$(#[$meta])*] $name [$($group)*] { $($fields)* } }
    };
    (@ [$($meta:tt)*] $name:ident [scheduled $($group:ident)*] { $($fields:tt)* }) => {
        fault_spec! { @ [$($meta)*] $name [bounds $($group)*] {
            $($fields)*
            /// On and off by the clock, between `from_s` and `to_s`; not with `random`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub every: Option<$crate::schedule::Every>,
            /// On and off at random, between `from_s` and `to_s`; not with `every`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub random: Option<$crate::schedule::Random>,
        } }
        impl $name {
            const fn timing(&self) -> $crate::schedule::Timing {
                let Self { from_s, to_s, every, random, .. } = *self;
                $crate::schedule::Timing { from_s, to_s, every, random }
            }
        }
    };
    (@ [$($meta:tt)*] $name:ident [bounded $($group:ident)*] { $($fields:tt)* }) => {
        fault_spec! { @ [$($meta)*] $name [bounds $($group)*] { $($fields)* } }
        impl $name {
            const fn timing(&self) -> $crate::schedule::Timing {
                let Self { from_s, to_s, .. } = *self;
                $crate::schedule::Timing { from_s, to_s, every: None, random: None }
            }
        }
    };
    (@ [$($meta:tt)*] $name:ident [bounds $($group:ident)*] { $($fields:tt)* }) => {
        fault_spec! { @ [$($meta)*] $name [$($group)*] {
            $($fields)*
            /// From this second of the run on. Default 0.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub from_s: Option<f64>,
            /// Up to this second of the run. Default: to the end.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub to_s: Option<f64>,
        } }
    };
    (@ [$($meta:tt)*] $name:ident [failing $($group:ident)*] { $($fields:tt)* }) => {
        fault_spec! { @ [$($meta)*] $name [$($group)*] {
            $($fields)*
            /// HTTP status of the error, from 400 to 599; not with `class`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub status: Option<u16>,
            /// Class of the error, in place of a status.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(
                feature = "schema",
                schemars(schema_with = "crate::failure::error_class_schema")
            )]
            pub class: Option<router::ErrorClass>,
            /// What is behind it, where status and class do not say: only the profile `corrected`
            /// asks.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(
                feature = "schema",
                schemars(schema_with = "crate::failure::cause_schema")
            )]
            pub cause: Option<router::Cause>,
            /// How long the provider takes to fail, in milliseconds. Default 0.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub after_ms: Option<f64>,
        } }
        impl $name {
            const fn error(&self) -> $crate::failure::ErrorKeys {
                let Self { status, class, cause, after_ms, .. } = *self;
                $crate::failure::ErrorKeys { status, class, cause, after_ms }
            }
        }
    };
    (@ [$($meta:tt)*] $name:ident [] { $($fields:tt)* }) => {
        $($meta)*
        #[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name { $($fields)* }
    };
}

pub(crate) use fault_spec;
