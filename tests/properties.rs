//! Properties over generated programs, expressions, answers and orders of arrival. Programs are made from a seed and a size
//! by [`dice`], so that they hold together by construction; proptest draws the seeds and shrinks the sizes.

mod bounds;
mod brute;
mod corruptions;
mod dice;
mod expressions;
mod graphs;
mod layouts;
mod machine;
pub(crate) mod programs;
mod roles;
mod text;
mod typed;
